import type { Contender, Purpose } from './contender.js'
import { leaseholdContenders } from './leasehold.js'
import { redisSemaphoreContenders } from './redis-semaphore.js'
import { redlockContenders } from './redlock.js'
import { redlockUniversalContenders } from './redlock-universal.js'

/** All who can be measured for a number, in the order of the tables. */
export function contendersFor(purpose: Purpose): readonly Contender[] {
  return all().filter(({ purposes }) => purposes.includes(purpose))
}

export function contenderOf(id: string): Contender {
  const contender = all().find((candidate) => candidate.id === id)
  if (contender === undefined) throw new Error(`no such contender: ${id}`)
  return contender
}

function all(): readonly Contender[] {
  return [
    ...leaseholdContenders(),
    ...redlockContenders(),
    ...redisSemaphoreContenders(),
    ...redlockUniversalContenders(),
  ]
}
