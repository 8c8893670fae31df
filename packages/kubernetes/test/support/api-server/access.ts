import type { Reply } from './status.js'
import type { SeenRequest } from './test-api-server.js'
import type { SentObject } from './validation.js'

/** The verbs that a token may use, on everything. */
export type Access = 'everything' | readonly string[]

/** A PUT of an object that is missing is a creation. */
export function verbOf({ method, query }: SeenRequest, exists: boolean, isNamed: boolean): string {
  switch (method) {
    case 'POST':
      return 'create'
    case 'PUT':
      return exists ? 'update' : 'create'
    case 'DELETE':
      return 'delete'
    default:
      if (query.get('watch') === '1' || query.get('watch') === 'true') return 'watch'
      return isNamed ? 'get' : 'list'
  }
}

/** Every known user may review its own access. */
export function reviewOf(access: Access, { spec }: SentObject): Reply {
  const { verb = '' } = (spec as { resourceAttributes?: { verb?: string } }).resourceAttributes ?? {}
  const allowed = access === 'everything' || access.includes(verb)
  return { status: 201, body: { kind: 'SelfSubjectAccessReview', spec, status: { allowed } } }
}
