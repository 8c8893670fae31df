import { type Compare, CREATE, type KeyValue, MOD, type ResponseOp, type TxnRequest, type TxnResponse } from './api.js'

/** How transactions become one, and its answer becomes theirs. */
export interface Joining {
  readonly join: (requests: readonly TxnRequest[]) => TxnRequest
  /**
   * In the order of the requests; `undefined` for one that was not carried out, because another one could not be. At least
   * one of them has an answer.
   */
  readonly split: (answer: TxnResponse, requests: readonly TxnRequest[]) => readonly (TxnResponse | undefined)[]
}

/** Reads become one read: a server answers it without a write to the log of the cluster. */
export const joinedReads: Joining = {
  join: (requests) => ({ compare: [], success: requests.flatMap(({ success }) => success), failure: [] }),
  split: ({ header, responses }, requests) => {
    const own = portionsOf(responses, requests, 'success')
    return own.map((portion) => ({ header, succeeded: true, responses: portion }))
  },
}

/**
 * Writes become one transaction, which is carried out if all comparisons of all of them hold. If not, nothing is written,
 * and the answer shows whose comparisons do not hold: for that, the keys of a write's comparisons are among the ranges that
 * it reads on failure, and all its comparisons are for equality.
 *
 * They do not become transactions within a transaction, each with its own comparisons: etcd does not check whether the user
 * has the permissions for those.
 */
export const joinedWrites: Joining = {
  join: (requests) => ({
    compare: requests.flatMap(({ compare }) => compare),
    success: requests.flatMap(({ success }) => success),
    failure: requests.flatMap(({ failure }) => failure),
  }),
  split: ({ header, succeeded, responses }, requests) => {
    const own = portionsOf(responses, requests, succeeded ? 'success' : 'failure')
    if (succeeded) return own.map((portion) => ({ header, succeeded, responses: portion }))
    const answers = own.map((portion, place) => {
      const read = portion.flatMap(({ responseRange }) => responseRange?.kvs ?? [])
      const isMet = requests[place]?.compare.every((compare) => holds(compare, read)) === true
      return isMet ? undefined : { header, succeeded, responses: portion }
    })
    if (answers.some((answer) => answer !== undefined)) return answers
    throw new TypeError('a write does not read the keys that it compares')
  },
}

/** The responses to the operations of each request. */
function portionsOf(
  responses: readonly ResponseOp[],
  requests: readonly TxnRequest[],
  branch: 'success' | 'failure',
): readonly (readonly ResponseOp[])[] {
  let from = 0
  return requests.map((request) => {
    const { length } = request[branch]
    from += length
    return responses.slice(from - length, from)
  })
}

/** Whether the comparison holds, if `read` has all its keys that exist. A key that does not exist has the revision 0. */
function holds(
  { target, key, rangeEnd, createRevision, modRevision, value }: Compare,
  read: readonly KeyValue[],
): boolean {
  const end = rangeEnd ?? undefined
  const found = read.find((one) => {
    return end === undefined ? one.key.equals(key) : one.key.compare(key) >= 0 && one.key.compare(end) < 0
  })
  if (target === MOD) return (found?.modRevision ?? '0') === modRevision
  if (target === CREATE) return (found?.createRevision ?? '0') === createRevision
  return value !== undefined && value !== null && found?.value.equals(value) === true
}
