/** The answer to a request; recorded from real servers. */
export interface Reply {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** A failure in the form of the server. */
export function failure(code: number, reason: string | undefined, message: string, details?: object): Reply {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message }
  const more = { ...(reason === undefined ? {} : { reason }), ...(details === undefined ? {} : { details }), code }
  return { status: code, body: { ...status, ...more } }
}

/** A kind of object that the server knows. */
export interface Kind {
  readonly group: string
  readonly plural: string
  readonly kind: string
  /** Custom resources are never made by a PUT, and have no validation but their schema. */
  readonly custom: boolean
}

export interface Place {
  readonly kind: Kind
  readonly namespace: string
  readonly name: string
}

const qualified = ({ kind }: Place): string => (kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`)
const detailsOf = ({ kind, name }: Place): object => ({ name, group: kind.group, kind: kind.plural })

export function notFound(place: Place): Reply {
  return failure(404, 'NotFound', `${qualified(place)} "${place.name}" not found`, detailsOf(place))
}

export function noNamespace(name: string): Reply {
  return failure(404, 'NotFound', `namespaces "${name}" not found`, { name, kind: 'namespaces' })
}

export function alreadyExists(place: Place): Reply {
  return failure(409, 'AlreadyExists', `${qualified(place)} "${place.name}" already exists`, detailsOf(place))
}

export function conflict(place: Place, why = 'the object has been modified'): Reply {
  const message = `Operation cannot be fulfilled on ${qualified(place)} "${place.name}": ${why}`
  return failure(409, 'Conflict', message, detailsOf(place))
}

export function invalid(place: Place, faults: readonly (readonly [field: string, message: string])[]): Reply {
  const said = faults.map(([field, message]) => `${field}: Invalid value: ${message}`)
  const message = `${place.kind.kind}.${place.kind.group} "${place.name}" is invalid: ${said.length > 1 ? `[${said.join(', ')}]` : said[0]}`
  const causes = faults.map(([field, text]) => ({ reason: 'FieldValueInvalid', message: text, field }))
  return failure(422, 'Invalid', message, { ...detailsOf(place), causes })
}

/** A kind that is not installed is answered by the router, which knows no Status. */
export const unknownPath: Reply = { status: 404, body: '404 page not found\n' }
export const unauthorized: Reply = failure(401, 'Unauthorized', 'Unauthorized')

export function forbidden(place: Place, user: string, verb: string): Reply {
  const what = `User "${user}" cannot ${verb} resource "${place.kind.plural}" in API group "${place.kind.group}"`
  const message = `${qualified(place)} "${place.name}" is forbidden: ${what} in the namespace "${place.namespace}"`
  return failure(403, 'Forbidden', message, detailsOf(place))
}
