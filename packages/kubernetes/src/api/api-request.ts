/** One request to the API server. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT'
  /** From `/api` or `/apis` on. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: object
}

/** The address of the objects of a kind in a namespace, or of one of them. */
export function pathOf(
  { group, version, plural }: { readonly group: string; readonly version: string; readonly plural: string },
  namespace: string,
  name?: string,
): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const objects = `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}`
  return name === undefined ? objects : `${objects}/${encodeURIComponent(name)}`
}
