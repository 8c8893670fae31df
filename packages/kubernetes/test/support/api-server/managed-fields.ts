/** An entry of `metadata.managedFields`, for the fields of the spec. */
export interface ManagedEntry {
  readonly manager: string
  readonly operation: 'Update'
  readonly time: string
  readonly fieldsV1: { readonly 'f:spec': Readonly<Record<string, object>> }
}

type Spec = Readonly<Record<string, unknown>>

/**
 * The entries after a write, as a real server (1.20.2) was seen to keep them: the writer becomes the manager of the fields
 * whose values it changes. The time of an entry stays if its manager has the same fields as before.
 */
export function managedAfter(
  entries: readonly ManagedEntry[],
  manager: string,
  before: Spec,
  after: Spec,
  now: number,
): readonly ManagedEntry[] {
  const changed = Object.keys(after).filter((field) => JSON.stringify(after[field]) !== JSON.stringify(before[field]))
  const fieldsOf = (entry: ManagedEntry | undefined): string[] => Object.keys(entry?.fieldsV1['f:spec'] ?? {})
  const own = entries.find((entry) => entry.manager === manager)
  const taken = new Set([...fieldsOf(own), ...changed.map((field) => `f:${field}`)])
  const isSame = own !== undefined && taken.size === fieldsOf(own).length
  const time = isSame ? own.time : new Date(now).toISOString().replace(/\.\d+Z$/, 'Z')
  const others = entries
    .filter((entry) => entry !== own)
    .map((entry) =>
      entryOf(
        entry.manager,
        entry.time,
        fieldsOf(entry).filter((field) => !taken.has(field)),
      ),
    )
  const next = taken.size === 0 ? others : [...others, entryOf(manager, time, [...taken])]
  return next.filter((entry) => fieldsOf(entry).some((field) => field.slice(2) in after))
}

function entryOf(manager: string, time: string, fields: readonly string[]): ManagedEntry {
  const spec = Object.fromEntries(fields.map((field) => [field, {}]))
  return { manager, operation: 'Update', time, fieldsV1: { 'f:spec': spec } }
}
