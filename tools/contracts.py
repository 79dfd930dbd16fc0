"""Two kinds of import contracts, which `lint-imports` reads by their names in pyproject.toml."""

from collections.abc import Iterator, Mapping
from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output
from importlinter.contracts.layers import LayersContract
from importlinter.domain.helpers import module_expressions_to_modules


class _RowsField(fields.Field[dict[str, list[str]]]):
    """A table as it stands in pyproject.toml."""

    def parse(self, raw_data: Any) -> dict[str, list[str]]:
        rows: dict[str, list[str]] = raw_data
        return rows


class RoomsContract(Contract):
    """Layers of many packages: of import-linter's contracts with exhaustive layers, one a row.

    Attributes:
        rooms: Layers of each package, from the top.
    """

    type_name = "rooms"

    rooms = _RowsField()

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: FBT001 - import-linter's own
        """Check each row, and that each package of several modules has one."""
        rows: Mapping[str, list[str]] = self.rooms  # type: ignore[assignment]
        contracts = [self._layers(package, layers) for package, layers in rows.items()]
        checks = [(contract, contract.check(graph, verbose)) for contract in contracts]
        broken = [(contract, check) for contract, check in checks if not check.kept]
        roots = {package.partition(".")[0] for package in rows}
        missing = sorted(set(_packages(graph, roots)) - rows.keys())
        return ContractCheck(
            kept=not broken and not missing, metadata={"broken": broken, "missing": missing}
        )

    def _layers(self, package: str, layers: list[str]) -> LayersContract:
        options = {"containers": [package], "layers": layers, "exhaustive": "true"}
        return LayersContract(package, self.session_options, options)

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Show each broken row as import-linter does."""
        for contract, found in check.metadata["broken"]:
            contract.render_broken_contract(found)
        for package in check.metadata["missing"]:
            output.print_error(f"{package}: its modules have no layers.")


def _packages(graph: ImportGraph, roots: set[str]) -> Iterator[str]:
    """Packages of several modules below `roots`."""
    for root in roots:
        for package in (root, *graph.find_descendants(root)):
            if len(graph.find_children(package)) > 1:
                yield package


class CoreContract(Contract):
    """Refuses each import of the core that no list allows; a module that is new is of the core.

    Attributes:
        package: The package whose modules are the core, but for the adapters.
        adapters: Modules and packages that talk to Google, the network or the clock.
        pure: Modules inside these packages that belong to the core all the same.
        allowed: Packages of others and of the standard library that the core may import.
        exceptions: Further imports, such as `functions.mail.templates -> jinja2`.
    """

    type_name = "core"

    package = fields.StringField()
    adapters = fields.SetField(subfield=fields.ModuleExpressionField())
    pure = fields.SetField(subfield=fields.ModuleExpressionField(), required=False)
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
