// Small pictures beside words; each has a shape of its own, so that people can distinguish them without color.

import type { Outcome } from "../domain/delivery.ts";

const OUTCOME_PATHS: Readonly<Record<Outcome, string>> = {
  // a clock
  pending: "M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13M8 4.5V8l2.5 1.5",
  // an arrow in a circle
  retrying: "M13.5 8a5.5 5.5 0 1 1-1.7-4M13.5 1.5v3.2h-3.2",
  // a tick
  success: "M3 8.5 6.5 12 13 4.5",
  // a cross
  failed: "M4 4l8 8M12 4l-8 8",
  // a bar through a circle
  skipped: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M3.8 3.8l8.4 8.4",
};

function Icon({ path }: { path: string }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={path} />
    </svg>
  );
}

export const OutcomeIcon = ({ outcome }: { outcome: Outcome }) => <Icon path={OUTCOME_PATHS[outcome]} />;
export const TickIcon = () => <Icon path={OUTCOME_PATHS.success} />;
export const CrossIcon = () => <Icon path={OUTCOME_PATHS.failed} />;
export const CopyIcon = () => <Icon path="M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z" />;
export const BackIcon = () => <Icon path="M10 3 5 8l5 5" />;
export const WarningIcon = () => <Icon path="M8 2 1.5 13.5h13zM8 6.5v3.2M8 11.6v.4" />;
export const InfoIcon = () => <Icon path="M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13M8 7.2v4M8 4.6v.4" />;
export const StarIcon = () => <Icon path="M8 1.8l1.9 4 4.3.5-3.2 3 .9 4.4L8 11.5l-3.9 2.2.9-4.4-3.2-3 4.3-.5z" />;
