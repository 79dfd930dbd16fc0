"""The import contract of the core, which `lint-imports` reads by its name in pyproject.toml."""

from fnmatch import fnmatchcase

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class CoreContract(Contract):
    """Refuses each import of the core that no list allows; a module that is new is of the core.

    Attributes:
        package: The package whose modules are the core, but for the adapters.
        adapters: Modules and packages that talk to Google, the network or the clock; `*` in a name
            stands for any characters.
        pure: Modules inside these packages that belong to the core all the same.
        allowed: Packages of others and of the standard library that the core may import.
        exceptions: Further imports, such as `functions.mail.translation -> jinja2`.
    """

    type_name = "core"

    package = fields.StringField()
    adapters = fields.SetField(subfield=fields.StringField())
    pure = fields.SetField(subfield=fields.StringField(), required=False)
    allowed = fields.SetField(subfield=fields.StringField())
    exceptions = fields.SetField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: FBT001 - import-linter's own
        """Compare what each module of the core imports with what it may."""
        del verbose
        adapters = _modules(graph, self.adapters) - _modules(graph, self.pure or ())
        package = str(self.package)
        own = {package} | graph.find_descendants(package)
        core = own - adapters
        allowed = core | {str(name) for name in self.allowed}  # type: ignore[attr-defined]
        imports = {
            f"{module} -> {imported}"
            for module in core
            for imported in graph.find_modules_directly_imported_by(module) - allowed
        }
        exceptions = {str(name) for name in self.exceptions}  # type: ignore[attr-defined]
        return ContractCheck(
            kept=imports == exceptions,
            metadata={
                "refused": sorted(imports - exceptions),
                "unused": sorted(exceptions - imports),
            },
        )

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Name each import."""
        for line in check.metadata["refused"]:
            output.print_error(f"{line}: no list of pyproject.toml allows the core this import.")
        for line in check.metadata["unused"]:
            output.print_error(f"{line}: the exception is not needed.")


def _modules(graph: ImportGraph, names: object) -> set[str]:
    """The modules and packages with these names, and the modules in those packages."""
    patterns = [str(name) for name in names]  # type: ignore[attr-defined]
    found = {module for module in graph.modules if any(fnmatchcase(module, it) for it in patterns)}
    return found.union(*map(graph.find_descendants, found))
