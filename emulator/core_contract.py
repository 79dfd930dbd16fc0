"""The contract of the core: a module that is not named as an adapter is pure.

`lint-imports` reads this class by its name in pyproject.toml.
"""

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output
from importlinter.domain.helpers import module_expressions_to_modules


class CoreContract(Contract):
    """Refuses each import by which the core would reach the world.

    The core is every module of the project outside the adapters, also a module that is new.

    Attributes:
        adapters: Modules and packages that talk to Google, the network or the clock.
        pure: Modules inside these packages that belong to the core all the same.
        outside: Packages of others and of the standard library that only adapters import.
    """

    type_name = "core"

    adapters = fields.SetField(subfield=fields.ModuleExpressionField())
    pure = fields.SetField(subfield=fields.ModuleExpressionField(), required=False)
    outside = fields.SetField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: FBT001 - import-linter's own
        """Compare what each module of the core imports with what it may not."""
        del verbose
        adapters = _modules(graph, self.adapters) - _modules(graph, self.pure or ())
        refused = adapters | {str(name) for name in self.outside}  # type: ignore[attr-defined]
        root = self.session_options["root_packages"]
        core = {module for module in graph.modules if module.split(".")[0] in root} - adapters
        imports = {
            f"{module} imports {imported}"
            for module in core
            for imported in graph.find_modules_directly_imported_by(module) & refused
        }
        return ContractCheck(kept=not imports, metadata={"imports": sorted(imports)})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Name each import."""
        for line in check.metadata["imports"]:
            output.print_error(f"{line}, which only the adapters named in pyproject.toml may.")


def _modules(graph: ImportGraph, expressions: object) -> set[str]:
    """The modules that the expressions name, and those in the packages among them.

    Raises:
        ValueError: An expression names no module.
    """
    found = module_expressions_to_modules(
        graph,
        expressions,  # type: ignore[arg-type]
        as_packages=True,
        raise_if_unmatched=True,
    )
    return {module.name for module in found}
