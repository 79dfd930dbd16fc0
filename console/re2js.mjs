// Stands for `re2js` in the build: Firestore takes it for pipelines, which the console has none of.

export const RE2JS = {};
