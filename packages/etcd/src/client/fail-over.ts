import type { Clock } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { isTransient } from './rpc-error.js'

/**
 * Sends a request to the first of the members, and to the next one when a member fails, or has not answered after `patience`
 * milliseconds: a dead or slow member does not delay the request by more than that. The first answer counts, and the
 * others are cancelled. A definitive error counts as an answer. Rejects with the error of the last member, or with the
 * reason of the abort. A request may so be executed more than once.
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
    let cancelTimer = (): void => {}

    function finish(settle: () => void): void {
      removeListener()
      cancelTimer()
      settle()
      for (const one of calls) one.abort(new Error('another member has answered'))
    }

    function next(): void {
      cancelTimer()
      const member = members[calls.length]
      if (member === undefined) return
      const own = new AbortableCall(call.timeout)
      calls.push(own)
      if (calls.length < members.length) cancelTimer = clock.schedule(patience, next)
      attempt(member, own).then(
        (answer) => finish(() => resolve(answer)),
        (error: unknown) => {
          failures += 1
          if (!isTransient(error) || failures === members.length) finish(() => reject(error))
          else if (failures === calls.length) next()
        },
      )
    }

    const removeListener = call.onAbort(() => {
      cancelTimer()
      reject(call.signal.reason)
      for (const one of calls) one.abort(call.signal.reason)
    })
    if (!call.aborted) next()
  })
}
