import { Component, type ComponentChild, type FunctionComponent, h } from "preact";

/** A component that is drawn again only where one of its properties is another. */
export function memo<Props extends object>(drawn: FunctionComponent<Props>): FunctionComponent<Props> {
  class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      const before = this.props as Record<string, unknown>;
      const after = next as Record<string, unknown>;
      return Object.keys({ ...before, ...after }).some((name) => before[name] !== after[name]);
    }

    override render(): ComponentChild {
      return h(drawn, this.props as Props);
    }
  }
  return Memo as unknown as FunctionComponent<Props>;
}
