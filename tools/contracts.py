"""The import contract of the core for `lint-imports`, configured in pyproject.toml."""

from fnmatch import fnmatchcase

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class CoreContract(Contract):
    """Rejects every import of the core that is not in a list. New modules belong to the core.

    Attributes:
        package: The package with the core and the adapters.
        adapters: Modules and packages that use Google, the network or the clock. `*` in a name
            matches any characters.
        pure: Modules inside these packages that belong to the core.
        allowed: Third-party packages and modules of the standard library that the core may import.
        exceptions: Other permitted imports, such as `functions.mail.translation -> jinja2`.
    """

    type_name = "core"

    package = fields.StringField()
    adapters = fields.SetField(subfield=fields.StringField())
    pure = fields.SetField(subfield=fields.StringField(), required=False)
    allowed = fields.SetField(subfield=fields.StringField())
    exceptions = fields.SetField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: FBT001 - import-linter's own
        """Compare the imports of the core's modules with the permitted imports."""
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
        """Print each rejected import and each unused exception."""
        for line in check.metadata["refused"]:
            output.print_error(f"{line}: pyproject.toml doesn't allow this import in the core.")
        for line in check.metadata["unused"]:
            output.print_error(f"{line}: this exception is unused. Remove it.")


def _modules(graph: ImportGraph, names: object) -> set[str]:
    """Return the modules and packages that match `names`, and the modules in these packages."""
    patterns = [str(name) for name in names]  # type: ignore[attr-defined]
    found = {module for module in graph.modules if any(fnmatchcase(module, it) for it in patterns)}
    return found.union(*map(graph.find_descendants, found))
