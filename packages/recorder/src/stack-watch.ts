import type { Worker } from 'node:worker_threads'
import { reasonOf } from '@leasehold/core/internal'
import { type LastWords, STACK_AT, STACK_SIZE, WORD, WORDS_AT, wordsOf } from './last-words.js'
import type { RecordedStack, StackSource } from './recorded-stack.js'
import { askForStack, type WatchedLoop, watchStalls } from './watch-stalls.js'

/** The time between two looks of the thread, in milliseconds: while the event loop turns, and while it was seen not to turn. */
const CALM = 250
const ALERT = 100

/**
 * During how many looks the event loop must not have turned before its stack is asked for: it has not turned for 500 ms then, twice
 * the time between two signs of the main thread. The later questions are for a main thread that was in native code before.
 */
const QUESTIONS = [4, 20, 80]

/** The least stall of which the recording says why it has no stack, in milliseconds. */
const LEAST_STALL = 500

const STATE = { idle: 0, watched: 1, debugged: 2, ended: 3 } as const

const NO_STACK = {
  native: JSON.stringify({
    noStack: {
      code: 'native',
      message: 'the main thread ran no JavaScript: it was in native code, or in a synchronous call such as execSync',
    },
  }),
  debugged: JSON.stringify({
    noStack: { code: 'debugger', message: 'another debugger was there, and two must not share the main thread' },
  }),
}

/** The last part of a path or a name is kept. */
const MOST_CHARACTERS = 160
const MOST_FRAMES = 10

/** A young heap of the least size. The old one has no limit: a thread that has no memory may end the process. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 1, codeRangeSizeMb: 1, stackSizeMb: 1 }

/** Asks for the stack of the main thread while its event loop is blocked, by a thread that runs while a lease is held or asked for. */
export class StackWatch implements StackSource {
  readonly #memory: SharedArrayBuffer
  readonly #words: Int32Array
  #thread: Worker | undefined
  #inspector: typeof import('node:inspector') | undefined
  /** Why no stacks can be had. */
  #obstacle: string | undefined

  constructor({ memory }: LastWords) {
    this.#memory = memory
    this.#words = wordsOf(memory)
  }

  start(): void {
    const before = Atomics.exchange(this.#words, WORD.state, STATE.watched)
    if (this.#obstacle !== undefined || (this.#thread !== undefined && before !== STATE.ended)) return
    try {
      this.#thread = this.#startThread()
    } catch (error) {
      this.#obstacle = reasonOf(error)
    }
  }

  stop(): void {
    Atomics.store(this.#words, WORD.state, STATE.idle)
  }

  look(duration: number): RecordedStack | undefined {
    const words = this.#words
    const length = Atomics.exchange(words, WORD.stackLength, 0)
    const turn = Atomics.add(words, WORD.turn, 1)
    const watched = Atomics.exchange(words, WORD.watched, 0)
    if (this.#obstacle !== undefined) {
      const message = `no stack can be had in this process: ${this.#obstacle}`
      return duration >= LEAST_STALL ? { noStack: { code: 'unavailable', message } } : undefined
    }
    // To open a port for debuggers takes one call at any time.
    const state = this.#inspector?.url() === undefined ? STATE.watched : STATE.debugged
    if (Atomics.load(words, WORD.state) !== STATE.ended) Atomics.store(words, WORD.state, state)
    if (length === 0 || Atomics.load(words, WORD.stackTurn) !== turn) return undefined
    const text = Buffer.from(new Uint8Array(this.#memory, STACK_AT, length)).toString()
    return { watched, ...(JSON.parse(text) as RecordedStack) }
  }

  #startThread(): Worker {
    const { Worker, isMainThread } = process.getBuiltinModule('node:worker_threads')
    if (!isMainThread) throw new Error('it can be asked of the main thread only, and this is another thread')
    // Throws where Node was built without it.
    this.#inspector = process.getBuiltinModule('node:inspector')
    if (this.#inspector === undefined) throw new Error('this Node has no inspector')
    const { pathToFileURL } = process.getBuiltinModule('node:url')
    const workerData: WatchedLoop = {
      ...{
        memory: this.#memory,
        wordsAt: WORDS_AT,
        word: WORD,
        stackAt: STACK_AT,
        stackSize: STACK_SIZE,
        state: STATE,
      },
      ...{ calm: CALM, alert: ALERT, questions: QUESTIONS, patience: 3, pausePatience: 10, proof: 2, idleLooks: 40 },
      ...{ mostFrames: MOST_FRAMES, mostCharacters: MOST_CHARACTERS, ...NO_STACK },
      root: `${pathToFileURL(process.cwd())}/`,
    }
    const worker = new Worker(PROGRAM, {
      eval: true,
      name: 'leasehold stacks',
      workerData,
      // No flags and no preloaded modules of the application.
      execArgv: [],
      env: {},
      resourceLimits: RESOURCE_LIMITS,
    })
    worker.unref()
    // An error is followed by the exit.
    worker.on('error', (error) => {
      this.#obstacle = `the thread that asks for it has failed: ${reasonOf(error)}`
    })
    worker.once('exit', () => {
      if (this.#thread === worker) this.#thread = undefined
    })
    return worker
  }
}

const PROGRAM = `const { workerData } = require('node:worker_threads')
const { Session } = require('node:inspector')
;(${watchStalls})(workerData, {
  repeat: function repeat(delay, look) {
    setTimeout(() => {
      const next = look()
      if (next !== undefined) repeat(next, look)
    }, delay)
  },
  newSession: () => new Session(),
}, ${askForStack})`
