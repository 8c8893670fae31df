import { Refusal } from '../access/refusal.js'
import type { HistoryRequest } from '../protocol.js'
import { type BodyFields, numberIn } from './request-body.js'

/** How many names a request has at most. */
const MOST_NAMES = 500

/** The request for a part of the timeline. Throws a `Refusal` if it is not valid. */
export function historyIn(fields: BodyFields): HistoryRequest {
  const { names } = fields
  if (!Array.isArray(names) || names.length > MOST_NAMES || !names.every((name) => typeof name === 'string')) {
    throw new Refusal(400, 'configuration', `names must be a list of at most ${MOST_NAMES} texts`)
  }
  return { names, from: numberIn(fields, 'from'), to: numberIn(fields, 'to') }
}
