import { countUnhandledRejections } from '../../support/unhandled-rejections.js'
import { type Contender, contendersOf, type Purpose } from './contender.js'
import { leasehold } from './leasehold.js'
import { redisSemaphore } from './redis-semaphore.js'
import { redlock } from './redlock.js'
import { redlockUniversal } from './redlock-universal.js'

/** What a process of its own measures. */
export interface Task {
  readonly contender: string
  readonly port: number
}

/** All who can be measured for a number, in the order of the tables. */
export function contendersFor(purpose: Purpose): readonly Contender[] {
  return all().filter(({ purposes }) => purposes.includes(purpose))
}

/** In a process of its own, which rejections that a library leaves without a handler do not end. */
export function contenderOf(id: string): Contender {
  countUnhandledRejections()
  const contender = all().find((candidate) => candidate.id === id)
  if (contender === undefined) throw new Error(`no such contender: ${id}`)
  return contender
}

function all(): readonly Contender[] {
  return [leasehold, redlock(), redisSemaphore(), redlockUniversal()].flatMap((library) => contendersOf(library))
}
