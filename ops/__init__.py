"""Setting a project up, and watching it: commands for operators, with the packages of ./venv."""
