import { openSync, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { machineTime } from '../../support/machine.js'
import { type Place, TTL, type Use } from '../contenders/contender.js'
import { contendersInChild } from '../contenders/contenders.js'

/** For how long a process works, unless it is ended before. It is longer than any library takes to grant the lock again. */
export const DURATION = 4 * TTL

/** Code that goes on after its lock: it never yields, or it yields and ignores its signal. */
export type Code = 'blocks' | 'ignores'

export interface FencedTask {
  readonly contender: string
  readonly place: Place
  readonly use: Use
  readonly code: Code
  /** The locks that it holds. */
  readonly names: readonly string[]
  /** The file for the time of its last work. */
  readonly file: string
}

/** In a process of its own: holds locks, and works on when it is asked to, whatever happens to them. Then the process ends. */
export async function openWorker({ contender: id, place, use, code, names, file }: FencedTask) {
  const contender = contendersInChild().find((candidate) => candidate.id === id)
  const holder = await contender?.open(place, use)
  await Promise.all(names.map((name) => holder?.hold(name)))
  const output = openSync(file, 'w')
  const time = new Float64Array(1)
  const work = (): void => {
    time[0] = machineTime()
    writeSync(output, time, 0, 8, 0)
  }
  return {
    work: async (): Promise<never> => {
      const end = machineTime() + DURATION
      // Where it never yields, it sleeps between two pieces of work, so that many runs fit on one machine.
      const sleep = new Int32Array(new SharedArrayBuffer(4))
      for (; machineTime() < end; code === 'ignores' ? await pause(1) : Atomics.wait(sleep, 0, 0, 1)) work()
      process.exit()
    },
  }
}
