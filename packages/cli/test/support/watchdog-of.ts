import { readFileSync } from 'node:fs'

/** The watchdog that the process of `leasehold` has started. Throws while there is none. */
export function watchdogOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').map(Number)
  const found = children.find((child) => readFileSync(`/proc/${child}/cmdline`, 'latin1').includes('--watchdog'))
  if (found === undefined) throw new Error('there is no watchdog')
  return found
}
