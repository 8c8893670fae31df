import { type ManagedEntry, managedAfter } from './managed-fields.js'
import type { ObjectStore, StoredObject } from './object-store.js'
import { alreadyExists, conflict, failure, invalid, noNamespace, notFound, type Place, type Reply } from './status.js'
import { pruned, refusalOf, type SentObject } from './validation.js'

/** The reads and writes of single objects, as the server does them. */
export class Operations {
  readonly #store: ObjectStore
  readonly #namespaces: ReadonlySet<string>
  readonly #now: () => number

  /** `now`: the clock of the server, in milliseconds since 1970. */
  constructor(store: ObjectStore, namespaces: ReadonlySet<string>, now: () => number) {
    this.#now = now
    this.#store = store
    this.#namespaces = namespaces
  }

  get(place: Place): Reply {
    const object = this.#store.get(keyOf(place))
    return object === undefined ? notFound(place) : { status: 200, body: object }
  }

  /** A page of the objects of a namespace. A continue token expires with the events of its revision. */
  list(place: Place, query: URLSearchParams): Reply {
    const prefix = keyOf({ ...place, name: '' })
    const { after = '', revision = this.#store.revision } = tokenIn(query.get('continue'))
    const token = (last: string, at: number): string => Buffer.from(JSON.stringify([last, at])).toString('base64url')
    if (this.#store.isCompacted(revision)) {
      const { status, body } = failure(410, 'Expired', 'The provided continue parameter is too old')
      const metadata = { continue: token(after, this.#store.revision) }
      return { status, body: { ...(body as object), metadata } }
    }
    const { objects, last } = this.#store.page(prefix, after, Number(query.get('limit') ?? Number.MAX_SAFE_INTEGER))
    const metadata = {
      resourceVersion: String(revision),
      ...(last === undefined ? {} : { continue: token(last, revision) }),
    }
    const items = place.kind.custom ? objects : objects.map(({ apiVersion: _, kind: __, ...item }) => item)
    return { status: 200, body: { kind: `${place.kind.kind}List`, metadata, items } }
  }

  post(place: Place, sent: SentObject, dryRun: boolean, manager: string): Reply {
    if (!this.#namespaces.has(place.namespace)) return noNamespace(place.namespace)
    if (sent.metadata?.resourceVersion !== undefined) {
      return failure(500, undefined, 'resourceVersion should not be set on objects to be created')
    }
    const refusal = refusalOf(place, sent)
    if (refusal !== undefined) return refusal
    if (this.#store.get(keyOf(place)) !== undefined) return alreadyExists(place)
    return { status: 201, body: dryRun ? sent : this.#write(place, sent, manager) }
  }

  put(place: Place, sent: SentObject, manager: string): Reply {
    const refusal = refusalOf(place, sent)
    if (refusal !== undefined) return refusal
    const { uid, resourceVersion: version } = sent.metadata ?? {}
    const before = this.#store.get(keyOf(place))
    if (before === undefined) {
      if (place.kind.custom) return notFound(place)
      if (!this.#namespaces.has(place.namespace)) return noNamespace(place.namespace)
      // The version does not protect an object that is gone: the server creates it again. The uid does.
      if (uid !== undefined) return conflict(place, 'StorageError: invalid object, UID in object meta: ')
      return { status: 201, body: this.#write(place, sent, manager) }
    }
    if (version === undefined || version === '' || version === '0') {
      return invalid(place, [['metadata.resourceVersion', '0: must be specified for an update']])
    }
    if (!/^\d+$/.test(version))
      return failure(500, undefined, `strconv.ParseUint: parsing "${version}": invalid syntax`)
    if (uid !== undefined && uid !== before.metadata.uid) return conflict(place, 'StorageError: invalid object')
    if (version !== before.metadata.resourceVersion) return conflict(place)
    return { status: 200, body: this.#write(place, sent, manager) }
  }

  delete(place: Place): Reply {
    const before = this.#store.delete(keyOf(place))
    if (before === undefined) return notFound(place)
    return { status: 200, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' } }
  }

  #write(place: Place, sent: SentObject, manager: string): StoredObject {
    const { group, kind } = place.kind
    const { managedFields: _, ...metadata } = (sent.metadata ?? {}) as Record<string, unknown>
    const { name, namespace } = place
    const spec = withoutNulls(pruned(place, sent.spec) ?? {})
    const before = this.#store.get(keyOf(place))
    const entries = (before?.metadata.managedFields ?? []) as readonly ManagedEntry[]
    const managedFields = managedAfter(entries, manager, before?.spec ?? {}, spec, this.#now())
    return this.#store.put(keyOf(place), {
      ...sent,
      apiVersion: group === '' ? 'v1' : `${group}/v1`,
      kind,
      metadata: { ...metadata, name, namespace, managedFields },
      spec,
    })
  }
}

function tokenIn(token: string | null): { after?: string; revision?: number } {
  if (token === null) return {}
  const [after, revision] = JSON.parse(Buffer.from(token, 'base64url').toString()) as [string, number]
  return { after, revision }
}

export function keyOf({ kind, namespace, name }: Place): string {
  return `${kind.plural}.${kind.group}/${namespace}/${name}`
}

function withoutNulls(spec: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== null))
}
