import { randomUUID } from 'node:crypto'
import { eventually, type Finishing } from '@leasehold/testing'
import { kill, processesWith, type Started, type StartOptions, start, written } from './leasehold-program.js'

/** A loop without an end. */
const LOOP = 'while :; do sleep 1; done'

/** A command of several processes that do not want to end. All have the variable `FAMILY` in their environment. */
export class Family {
  readonly id: string = randomUUID()

  constructor(test: Finishing) {
    test.onTestFinished(() => {
      for (const pid of this.alive()) kill(pid)
    })
  }

  /**
   * It ignores SIGTERM, and so do a child, a grandchild whose parent has ended, and one in another session; it closes its
   * output, and writes `ready` before.
   */
  get stubborn(): readonly string[] {
    const stubborn = `trap "" TERM; ${LOOP}`
    return this.#shell(`
      trap '' TERM
      sh -c '${stubborn}' &
      (sh -c '${stubborn}' &)
      (setsid sh -c '${stubborn}' </dev/null >/dev/null 2>&1 &)
      echo ready
      exec </dev/null >/dev/null 2>&1
      ${LOOP}`)
  }

  /** Writes `ready`, ends at SIGTERM with 0 after it has written `terminated`. */
  get obedient(): readonly string[] {
    return this.#shell(`trap 'echo terminated; exit 0' TERM; echo ready; ${LOOP}`)
  }

  /** Ends at once with the code, and leaves processes behind: one in another session. */
  leaving(code: number): readonly string[] {
    const quiet = '</dev/null >/dev/null 2>&1'
    return this.#shell(`(sh -c '${LOOP}' ${quiet} &); (setsid sh -c '${LOOP}' ${quiet} &); sleep 0.3; exit ${code}`)
  }

  /** A command that shows the processes of the family that are alive; nothing, if there is none. */
  get look(): readonly string[] {
    return ['sh', '-c', `grep -lzs '^FAMILY=${this.id}$' /proc/[0-9]*/environ; echo looked`]
  }

  /** Those that are alive. */
  alive(): readonly number[] {
    return processesWith(`FAMILY=${this.id}`)
  }

  async gone(): Promise<void> {
    await eventually('the family is gone', async () => this.alive().length === 0)
  }

  #shell(script: string): readonly string[] {
    return ['env', `FAMILY=${this.id}`, 'sh', '-c', script]
  }
}

/** The shells of a stubborn family, which are there when it is ready. */
const STUBBORN = 4

/** How often a slow machine may lose the lease before the family is there. */
const ATTEMPTS = 5

/** Starts `leasehold` with a stubborn family; resolves when all its processes are there. */
export async function startStubborn(
  args: readonly string[],
  family: Family,
  options: StartOptions & { readonly test: Finishing },
): Promise<Started> {
  for (let attempt = 1; ; attempt += 1) {
    const started = start([...args, '--', ...family.stubborn], options)
    options.test.onTestFinished(() => void started.child.kill('SIGKILL'))
    // Cheap looks first: the proxies of the tests are in this process, and have to answer in time.
    const isReady = await Promise.race([written(started, /ready/).then(() => true), started.ended.then(() => false)])
    if (isReady && family.alive().length >= STUBBORN) return started
    started.child.kill('SIGKILL')
    await family.gone()
    if (attempt === ATTEMPTS) throw new Error(`it does not stay: ${started.errors()}`)
  }
}
