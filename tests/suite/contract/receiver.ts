// A third-party receiver with the types of docs/openapi.yaml. Prints one line for each body.
import { readFileSync } from "node:fs";
import type { components } from "./types";

type Delivery = components["schemas"]["Delivery"];

function summary(delivery: Delivery): string {
  switch (delivery.event) {
    case "photo.uploaded":
      return delivery.data.photo.uploaderEmail ?? "nobody";
    case "photo.approved":
      return delivery.data.photo.approvedBy ?? "approved by itself";
    case "photo.rejected":
      return delivery.data.photo.reason ?? "without a reason";
    case "event.published":
      return delivery.data.eventName ?? "without a name";
    case "event.archived":
      return delivery.data.photoCount.toFixed();
    case "milestone.reached":
      return delivery.data.milestone.toFixed();
    case "guest.joined":
      return delivery.data.firstPhotoId;
    case "photo.deleted":
      return delivery.data.photo.id;
    default:
      return "a type that this receiver does not use";
  }
}

const bodies = JSON.parse(readFileSync(0, "utf8")) as Delivery[];
for (const body of bodies) console.log(`${body.event} ${summary(body)}`);
