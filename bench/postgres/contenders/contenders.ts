import { advisoryContenders } from './advisory.js'
import type { Contender } from './contender.js'
import { leasehold } from './leasehold.js'
import { packageContenders } from './packages.js'

/** In the order of the tables. */
export const contenders: readonly Contender[] = [leasehold, ...advisoryContenders, ...packageContenders]

export function contenderOf(id: string): Contender {
  const contender = contenders.find((candidate) => candidate.id === id)
  if (contender === undefined) throw new Error(`no such contender: ${id}`)
  return contender
}
