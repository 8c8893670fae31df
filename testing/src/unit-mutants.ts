import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import type { Edit } from './bundle-with-edits.js'
import { inTurn } from './in-turn.js'
import type { EditedRun, EditedRunEnd } from './unit-mutant-runner.js'

/** A small change that breaks a rule, and the test that notices it. Paths are below the folder of the package. */
export interface UnitMutant extends Edit {
  /** The fault, in words. */
  readonly title: string
  /** The file of the test. */
  readonly test: string
  /** A part of the full title of the test. */
  readonly name: string
}

/**
 * A test for each change: with it, the named test is red. Skipped where the named test is skipped, because it needs a server
 * that is not here. `folder`: of the package.
 */
export function describeUnitMutants(folder: URL, mutants: readonly UnitMutant[]): void {
  describe('one-line changes are noticed', () => {
    const runner = new Runner()
    afterAll(() => runner.stop())

    it('each is another one', () => {
      expect(new Set(mutants.map(({ title }) => title)).size).toBe(mutants.length)
    })

    for (const { title, test, name, ...edit } of inTurn(mutants, 'MUTANTS_TURN')) {
      it(title, { timeout: 300_000 }, async (context) => {
        const file = join(fileURLToPath(folder), edit.file)
        const { states, errors, skippedFor } = await runner.run({
          edit: { ...edit, file },
          test: join(fileURLToPath(folder), test),
          name,
        })
        expect(states, `tests of ${test} whose title contains '${name}': ${errors.join('\n')}`).not.toEqual([])
        if (skippedFor !== undefined) context.task.meta.skippedFor = skippedFor
        context.skip(errors.length === 0 && states.every((state) => state === 'skipped'), `${test} is skipped here`)
        expect(states, errors.join('\n')).toContain('failed')
      })
    }
  })
}

/** One process with vitest for all mutants of a list: to start it takes longer than most tests. */
class Runner {
  #process: ChildProcess | undefined

  async run(asked: EditedRun): Promise<EditedRunEnd> {
    this.#process ??= fork(new URL('./unit-mutant-runner.ts', import.meta.url), {
      execArgv: ['--import', 'tsx'],
      // A group of its own, with the processes of the tests, so that all of it can be ended.
      detached: true,
    })
    const child = this.#process
    child.send(asked)
    const over = new AbortController()
    const { signal } = over
    // A change may keep the event loop of a test busy for ever. The other mutants go on in another process.
    const late = delay(240_000, undefined, { signal, ref: false })
    const exit = once(child, 'exit', { signal })
    const answer = once(child, 'message', { signal }).then(([end]: EditedRunEnd[]) => end)
    const end = await Promise.race([answer, exit.then(() => undefined), late])
    over.abort()
    if (end !== undefined) return end
    this.#process = undefined
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
    throw new Error(`the process with the tests ${child.exitCode === null ? 'did not answer' : 'has ended'}`)
  }

  stop(): void {
    if (this.#process?.connected) this.#process.disconnect()
  }
}
