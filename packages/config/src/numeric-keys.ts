/** The keys of an object that stands for a list: those that are integers, in the order of these. */
export function numericKeys(keys: Iterable<string>): string[] {
  return [...keys].filter((key) => /^\d{1,15}$/.test(key)).sort((one, other) => Number(one) - Number(other))
}
