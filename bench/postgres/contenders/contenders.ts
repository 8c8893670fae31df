import { advisoryContenders } from './advisory.js'
import type { Contender } from './contender.js'
import { leasehold } from './leasehold.js'
import { packageContenders } from './packages.js'

/** What a process of its own measures. */
export interface Task {
  readonly contender: string
  readonly url: string
}

/** In the order of the tables. */
export function contenders(): readonly Contender[] {
  return [leasehold, ...advisoryContenders, ...packageContenders()]
}

export function contenderOf(id: string): Contender {
  const contender = contenders().find((candidate) => candidate.id === id)
  if (contender === undefined) throw new Error(`no such contender: ${id}`)
  return contender
}
