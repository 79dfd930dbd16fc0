// A photo of an event, and the decisions that staff may make on it (spec 3.1).

export const STATUSES = ["pending", "approved", "rejected"] as const;
export type Status = (typeof STATUSES)[number];

export const STATUS_WORDS: Readonly<Record<Status, string>> = {
  pending: "Pending",
  approved: "Approved",
  rejected: "Rejected",
};

export interface Photo {
  readonly id: string;
  readonly status: Status;
  readonly url: string;
  readonly thumbUrl: string | null;
  /** Whether the highlights of a recap begin with it. */
  readonly featured: boolean;
  readonly uploaderName: string;
  readonly uploaderEmail: string | null;
  readonly createdAt: Date | null;
  /** Who approved or rejected it last; null if no one has. */
  readonly decidedBy: string | null;
  readonly decidedByUid: string | null;
  readonly decidedAt: Date | null;
  readonly reason: string | null;
}

export type Decision = "approve" | "reject" | "feature" | "unfeature" | "delete";

/**
 * Return the address of the picture that the grid shows of a photo.
 *
 * Before the approval it is `url`, which webhooks and walls show: a guest may have written `thumbUrl` in an earlier release.
 */
export function pictureUrl({ status, url, thumbUrl }: Pick<Photo, "status" | "url" | "thumbUrl">): string {
  return status === "approved" ? (thumbUrl ?? url) : url;
}

/** The decisions that are possible for a photo, the usual one first. */
export function decisions({ status, featured }: Pick<Photo, "status" | "featured">): readonly Decision[] {
  switch (status) {
    case "pending":
      return ["approve", "reject", "delete"];
    case "approved":
      return [featured ? "unfeature" : "feature", "reject", "delete"];
    case "rejected":
      return ["approve", "delete"];
  }
}

/** The photo after a decision by the person with that address. */
export function decidedAs(photo: Photo, decision: Decision, email: string): Photo {
  switch (decision) {
    case "approve":
      return { ...photo, status: "approved", decidedBy: email, decidedByUid: null, decidedAt: null, reason: null };
    case "reject":
      return { ...photo, status: "rejected", decidedBy: email, decidedByUid: null, decidedAt: null };
    case "feature":
    case "unfeature":
      return { ...photo, featured: decision === "feature" };
    case "delete":
      return photo;
  }
}

/** The decision that undoes another (design 6: between approved and rejected); null if nothing does. */
export function undoing(decision: Decision): Decision | null {
  return ({ approve: "reject", reject: "approve", feature: "unfeature", unfeature: "feature", delete: null } as const)[decision];
}

/** The label of the button that undoes a decision. */
export function undoWords(decision: Decision): string {
  return { approve: "Hide", reject: "Undo (approve)", feature: "Remove from highlights", unfeature: "Add to highlights", delete: "" }[decision];
}

/** The label of a decision's button for a photo of that status. */
export function decisionWords(decision: Decision, status: Status): string {
  if (decision === "reject") return status === "approved" ? "Hide" : "Reject";
  return { approve: "Approve", feature: "Add to highlights", unfeature: "Remove from highlights", delete: "Delete" }[decision];
}

/** The label of a decision while it is saved. */
export function savingWords(decision: Decision, status: Status): string {
  if (decision === "reject") return status === "approved" ? "Hiding" : "Rejecting";
  return { approve: "Approving", feature: "Adding to highlights", unfeature: "Removing from highlights", delete: "Deleting" }[decision];
}

/** The decision of a key for a photo; null if the key has none. */
export function decisionOf(key: string, photo: Pick<Photo, "status" | "featured">): Decision | null {
  const meant: Readonly<Record<string, readonly Decision[]>> = {
    a: ["approve"],
    r: ["reject"],
    t: ["reject"],
    f: ["feature", "unfeature"],
    delete: ["delete"],
    backspace: ["delete"],
  };
  const open = decisions(photo);
  return meant[key.toLowerCase()]?.find((one) => open.includes(one)) ?? null;
}

/** The name of a photo in a sentence: guests may leave none. */
export function photoOf({ uploaderName }: Pick<Photo, "uploaderName">): string {
  return uploaderName ? `photo by ${uploaderName}` : "anonymous photo";
}
