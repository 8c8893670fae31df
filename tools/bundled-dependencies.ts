/**
 * Small packages that become a part of a bundle, because to find and link them takes longer than to run them. They are
 * development dependencies of our packages: an installation does not bring them once more.
 */
export const bundledDependencies: readonly string[] = ['eventemitter3', 'fastest-levenshtein', 'nanoid']
