import { openSync, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { type Place, TTL, type Use } from '../contenders/contender.js'
import { contenderOf } from '../contenders/contenders.js'
import { machineTime } from '../machine-time.js'

/** For how long a process works, unless it is ended before. It is longer than any library takes to grant the lock again. */
export const DURATION = 4 * TTL

/** Code that goes on after its lock: it never yields, or it yields and ignores its signal. */
export type Code = 'blocks' | 'ignores'

export interface FencedTask {
  readonly type: 'fenced'
  readonly contender: string
  readonly place: Place
  readonly use: Use
  readonly code: Code
  /** The locks that it holds. */
  readonly names: readonly string[]
  /** The file for the time of its last work. */
  readonly file: string
}

/** In a process of its own: holds locks, prints a line, and works on whatever happens to them. */
export async function workPastTheLock({ contender, place, use, code, names, file }: FencedTask): Promise<void> {
  const output = openSync(file, 'w')
  const time = new Float64Array(1)
  const work = (): void => {
    time[0] = machineTime()
    writeSync(output, time, 0, 8, 0)
  }
  const holder = await contenderOf(contender).open(place, use)
  await Promise.all(names.map((name) => holder.hold(name)))
  writeSync(1, 'held\n')
  const end = machineTime() + DURATION
  if (code === 'ignores') {
    for (; machineTime() < end; await pause(1)) work()
    return
  }
  // It sleeps between two pieces of work, so that many runs fit on one machine.
  const sleep = new Int32Array(new SharedArrayBuffer(4))
  for (; machineTime() < end; Atomics.wait(sleep, 0, 0, 1)) work()
}
