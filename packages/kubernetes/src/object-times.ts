import type { KubernetesObject } from './kubernetes-object.js'

/**
 * The field managers of our writes, in turn. The server keeps for each manager which fields it wrote, and when. Some versions
 * (1.20) keep that time when a manager writes the same fields again, so the time of a heartbeat is certain only if another
 * manager wrote the field before it.
 */
const managers = ['leasehold-1', 'leasehold-2'] as const

/** The manager of a write over an object whose managers are not known. Its time proves nothing. */
const UNCERTAIN = 'leasehold'

/** An entry of `metadata.managedFields`. A proxy may have written anything into it. */
interface ManagedFields {
  readonly manager?: unknown
  readonly operation?: unknown
  readonly time?: unknown
  readonly fieldsV1?: { readonly 'f:spec'?: Readonly<Record<string, unknown>> } | null
}

/** The manager of the next write over this object. `field`: that of the spec which every write changes. */
export function managerOver(object: KubernetesObject, field: string): string {
  const entries = entriesOf(object)
  if (entries.length === 0) return UNCERTAIN
  const owners = entries.filter((entry) => owns(entry, field)).map(({ manager }) => manager)
  return managers.find((manager) => !owners.includes(manager)) ?? UNCERTAIN
}

/** The manager of the first write. */
export const firstManager: string = managers[0]

/**
 * When the server took the last write of this package, by the clock of the server, in milliseconds of whole seconds.
 * `undefined` if another program wrote the heartbeat, or the server keeps no managers.
 */
export function writtenAt(object: KubernetesObject, field: string): number | undefined {
  const [owner, other] = entriesOf(object).filter((entry) => owns(entry, field))
  const isOurs = other === undefined && (managers as readonly unknown[]).includes(owner?.manager)
  if (!isOurs || owner?.operation !== 'Update' || typeof owner.time !== 'string') return undefined
  const time = Date.parse(owner.time)
  return Number.isNaN(time) ? undefined : time
}

function entriesOf({ metadata: { managedFields } }: KubernetesObject): readonly ManagedFields[] {
  return Array.isArray(managedFields) ? managedFields.map((entry) => Object(entry) as ManagedFields) : []
}

function owns({ fieldsV1 }: ManagedFields, field: string): boolean {
  return Object.hasOwn(Object(fieldsV1?.['f:spec']) as object, `f:${field}`)
}
