/** The entries of each name, in their order. */
export function byName<T extends { readonly name: string }>(entries: Iterable<T>): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const entry of entries) {
    const group = groups.get(entry.name)
    if (group === undefined) groups.set(entry.name, [entry])
    else group.push(entry)
  }
  return groups
}
