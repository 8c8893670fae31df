import type { Session } from 'node:inspector'

/** What the thread shares with the recorder, and its settings. Times in milliseconds. */
export interface WatchedLoop {
  readonly memory: SharedArrayBuffer
  /** Where the memory has its 32-bit words, and the meaning of these; where it has room for a stack, and how much. */
  readonly wordsAt: number
  readonly word: {
    readonly turn: number
    readonly state: number
    readonly stackLength: number
    readonly stackTurn: number
  }
  readonly stackAt: number
  readonly stackSize: number
  readonly state: { readonly idle: number; readonly debugged: number; readonly ended: number }
  /** The time between two looks, and by how much one may come late. */
  readonly period: number
  readonly lateness: number
  /** For how long the loop must not have turned before each try. */
  readonly tries: readonly number[]
  /** How long the main thread may take to answer, and to pause. */
  readonly answerTime: number
  readonly pauseTime: number
  /** For how long the loop must not turn after the pause. */
  readonly proof: number
  /** After this time without a lease, the thread ends. */
  readonly idleTime: number
  readonly mostFrames: number
  readonly mostCharacters: number
  /** The URL of the folder in which the process runs. */
  readonly root: string
  /** Why there is no stack, as text to record. */
  readonly native: string
  readonly debugged: string
}

/** The thread itself. */
export interface WatchingThread {
  /** The monotonic clock in milliseconds. */
  readonly now: () => number
  /** Calls again and again. Returns what ends it. */
  readonly every: (period: number, look: () => void) => () => void
  readonly newSession: () => Session
}

interface Paused {
  readonly functionName: string
  readonly url: string
  readonly location: { readonly scriptId: string; readonly lineNumber: number; readonly columnNumber?: number }
}

/**
 * Asks for the stack of the main thread when its event loop has not turned for some time. The debugger is enabled only for that,
 * and the main thread is paused only until its stack was written down.
 *
 * A stack counts only if it is sure that it belongs to the block: the loop did not turn before, the main thread paused at once,
 * and the loop did not turn for some time after. A look of this thread that comes late proves that the thread itself did not
 * run, because the process was stopped, or got no processor: then it begins anew.
 *
 * This is the program of a thread: it is started from its text, so that it works in a bundle too, and it may use its arguments
 * only. It must not have functions with names: some compilers wrap them.
 */
export function watchStalls(loop: WatchedLoop, thread: WatchingThread): void {
  const { word, state } = loop
  const words = new Int32Array(loop.memory, loop.wordsAt)
  let turn = -1
  let lookedAt = thread.now()
  let idleSince = lookedAt
  /** Since when the loop was seen not to turn. */
  let silentSince = lookedAt
  let tries = 0
  let session: Session | undefined
  /** When the main thread was asked, first for an answer and then for a pause. */
  let askedAt = 0
  let isAnswered = false
  /** The stack to write, or why there is none, and when it was known. */
  let found = ''
  let foundAt = 0
  const end = thread.every(loop.period, () => {
    const now = thread.now()
    const isLate = now - lookedAt > loop.period + loop.lateness
    lookedAt = now
    const seen = Atomics.load(words, word.turn)
    const current = Atomics.load(words, word.state)
    if (current !== state.idle) idleSince = now
    else if (
      now - idleSince >= loop.idleTime &&
      Atomics.compareExchange(words, word.state, state.idle, state.ended) === state.idle
    ) {
      end()
    }
    if (seen !== turn || isLate || current === state.idle) {
      if (seen !== turn) tries = 0
      turn = seen
      silentSince = now
      found = ''
      session?.disconnect()
      session = undefined
      return
    }
    if (session !== undefined && now - askedAt > (isAnswered ? loop.pauseTime : loop.answerTime)) {
      session.disconnect()
      session = undefined
      found = JSON.stringify({ noStack: { code: 'native', message: loop.native } })
      foundAt = now
    }
    if (found !== '' && now - foundAt >= loop.proof) {
      const bytes = Buffer.from(found)
      found = ''
      if (bytes.length <= loop.stackSize) {
        Atomics.store(words, word.stackLength, 0)
        new Uint8Array(loop.memory, loop.stackAt).set(bytes)
        Atomics.store(words, word.stackTurn, turn)
        Atomics.store(words, word.stackLength, bytes.length)
      }
    }
    const pause = loop.tries[tries]
    if (session !== undefined || found !== '' || pause === undefined || now - silentSince < pause) return
    tries += 1
    if (current === state.debugged) {
      found = JSON.stringify({ noStack: { code: 'debugger', message: loop.debugged } })
      foundAt = now
      tries = loop.tries.length
      return
    }
    const own = thread.newSession()
    const urls = new Map<string, string>()
    session = own
    isAnswered = false
    askedAt = now
    own.connectToMainThread()
    own.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => void urls.set(scriptId, url))
    own.on('Debugger.paused', ({ params }) => {
      if (session !== own) return
      session = undefined
      // Before anything that can fail: the main thread waits. If another debugger paused it, only that one may resume it.
      if (isAnswered) own.post('Debugger.resume')
      own.disconnect()
      foundAt = thread.now()
      if (!isAnswered) {
        tries = loop.tries.length
        found = JSON.stringify({ noStack: { code: 'debugger', message: loop.debugged } })
      } else if (foundAt - askedAt > loop.pauseTime) {
        found = JSON.stringify({ noStack: { code: 'native', message: loop.native } })
      } else {
        tries = loop.tries.length
        const stack = (params.callFrames as readonly Paused[]).slice(0, loop.mostFrames).map((frame) => {
          const url = urls.get(frame.location.scriptId) || frame.url || '(evaluated)'
          let file = url.startsWith(loop.root) ? url.slice(loop.root.length) : url.replace('file://', '')
          try {
            file = decodeURIComponent(file)
          } catch {}
          return {
            function: frame.functionName.slice(-loop.mostCharacters) || '(anonymous)',
            file: file.slice(-loop.mostCharacters),
            line: frame.location.lineNumber + 1,
            column: (frame.location.columnNumber ?? 0) + 1,
          }
        })
        found = JSON.stringify({ stack })
      }
      // To read a deep stack takes long.
      lookedAt = thread.now()
    })
    own.post('Debugger.enable', (error) => {
      if (error !== null || session !== own) return
      isAnswered = true
      askedAt = thread.now()
      own.post('Debugger.pause')
    })
  })
}
