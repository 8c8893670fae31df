/**
 * Packages that become a part of a bundle: small ones, because to find and link them takes longer than to run them, and the
 * simulator, because it is not published. They are development dependencies of our packages: an installation does not
 * bring them once more.
 */
export const bundledDependencies: readonly string[] = [
  '@leasehold/simulator',
  'eventemitter3',
  'fastest-levenshtein',
  'nanoid',
]
