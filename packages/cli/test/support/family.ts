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

  /**
   * Its first process ends at SIGTERM. A child in a session of its own does not, nor does a grandchild there, whose parent
   * has ended. Both have an empty environment. It writes `ready` before.
   */
  get nameless(): readonly string[] {
    const quiet = '</dev/null >/dev/null 2>&1'
    // The id is a word of its own in the command line of each.
    const grandchild = `(sh -c "trap \\"\\" TERM; ${LOOP}" ${this.id} &)`
    return this.#shell(`
      trap 'exit 0' TERM
      setsid env -i sh -c 'trap "" TERM; ${grandchild}; ${LOOP}' ${this.id} ${quiet} &
      sleep 0.5
      echo ready
      ${LOOP}`)
  }

  /** Writes `ready`, ends at SIGTERM with 0 after it has written `terminated`. */
  get obedient(): readonly string[] {
    return this.#shell(`trap 'echo terminated; exit 0' TERM; echo ready; ${LOOP}`)
  }

  /** Ends at once with the code, and leaves processes behind: one in another session, which ignores SIGTERM. */
  leaving(code: number): readonly string[] {
    const quiet = '</dev/null >/dev/null 2>&1'
    const stubborn = `trap "" TERM; ${LOOP}`
    return this.#shell(`(sh -c '${LOOP}' ${quiet} &); (setsid sh -c '${stubborn}' ${quiet} &); sleep 0.3; exit ${code}`)
  }

  /** A command that shows the processes of the family that are alive; nothing, if there is none. */
  get look(): readonly string[] {
    const looks = [`'^FAMILY=${this.id}$' /proc/[0-9]*/environ`, `'^${this.id}$' /proc/[0-9]*/cmdline`]
    return ['sh', '-c', `${looks.map((look) => `grep -lzs ${look}`).join('; ')}; echo looked`]
  }

  /** Those that are alive. */
  alive(): readonly number[] {
    return processesWith(`FAMILY=${this.id}`, `\0${this.id}\0`)
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
