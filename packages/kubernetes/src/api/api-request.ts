export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT'
  /** Starts with `/api` or `/apis`. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: object
  /** Whether it is sent on one connection only, so that a refusal is never that of a second copy. */
  readonly once?: boolean
}

/** A kind of object, with its names in paths and in RBAC. */
export interface ApiResource {
  readonly group: string
  readonly version: string
  readonly plural: string
  /** The manifest to apply if the server does not know the kind. */
  readonly manifest?: string
}

/** The path of all objects of a kind in a namespace, or of one object. */
export function pathOf({ group, version, plural }: ApiResource, namespace: string, name?: string): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const objects = `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}`
  return name === undefined ? objects : `${objects}/${encodeURIComponent(name)}`
}
