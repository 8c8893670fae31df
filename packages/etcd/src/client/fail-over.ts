import type { Clock } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { isTransient } from './rpc-error.js'

/** Each round over the members is more patient than the round before, by this factor. */
const GROWTH = 3

/**
 * Sends a request to the first of the members, and to the next one when a member fails, or has not answered after `patience`
 * milliseconds: a dead or slow member does not delay the request by more than that. The first answer counts, and the
 * others are cancelled. A definitive error counts as an answer. Rejects with the error of the last member, or with the
 * reason of the abort. A request may so be executed more than once.
 *
 * After the last member it begins again with the first, and is more patient in each round. Members pass requests on to
 * their leader. If the leader hangs, the request is lost with it, or waits for it for 7 s, though the cluster has another
 * leader after a second.
 */
export function failOver<M, T>(
  members: readonly M[],
  attempt: (member: M, call: StoreCall) => Promise<T>,
  clock: Clock,
  patience: number,
  call: StoreCall,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const calls: AbortableCall[] = []
    let failures = 0
    let isSettled = false
    let cancelTimer = (): void => {}
    let removeListener = (): void => {}

    function finish(settle: () => void, reason: unknown): void {
      isSettled = true
      removeListener()
      cancelTimer()
      settle()
      for (const one of calls) one.abort(reason)
    }

    function next(): void {
      cancelTimer()
      const member = members[calls.length % members.length]
      if (member === undefined) return
      const own = new AbortableCall(call.timeout)
      calls.push(own)
      cancelTimer = clock.schedule(patience * GROWTH ** Math.floor(calls.length / members.length), next)
      attempt(member, own).then(
        (answer) => finish(() => resolve(answer), new Error('another member has answered')),
        (error: unknown) => {
          if (!isSettled) fail(error, own)
        },
      )
    }

    function fail(error: unknown, own: AbortableCall): void {
      failures += 1
      const isLast = failures === calls.length && calls.length >= members.length
      if (!isTransient(error) || isLast) finish(() => reject(error), error)
      else if (own === calls.at(-1) && calls.length % members.length !== 0) next()
    }

    removeListener = call.onAbort(() => finish(() => reject(call.signal.reason), call.signal.reason))
    if (!isSettled) next()
  })
}
