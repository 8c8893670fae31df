import type { Session } from 'node:inspector'

/** What the thread shares with the recorder, and its settings. */
export interface WatchedLoop {
  readonly memory: SharedArrayBuffer
  /** Where the memory has its 32-bit words, and the meaning of these; where it has room for a stack, and how much. */
  readonly wordsAt: number
  readonly word: {
    readonly turn: number
    readonly state: number
    readonly stackLength: number
    readonly stackTurn: number
    readonly watched: number
  }
  readonly stackAt: number
  readonly stackSize: number
  readonly state: { readonly idle: number; readonly debugged: number; readonly ended: number }
  /** The time between two looks, in milliseconds: while the loop turns, and while it was seen not to turn. */
  readonly calm: number
  readonly alert: number
  /** During how many looks the loop must not have turned before each question. */
  readonly questions: readonly number[]
  /** During how many looks the main thread may leave a question without an answer, and then does not pause. */
  readonly patience: number
  readonly pausePatience: number
  /** During how many looks the loop must not turn after an answer. */
  readonly proof: number
  /** After how many looks without a lease the thread ends. */
  readonly idleLooks: number
  readonly mostFrames: number
  readonly mostCharacters: number
  /** The URL of the folder in which the process runs. */
  readonly root: string
  /** Why there is no stack, as JSON. */
  readonly native: string
  readonly debugged: string
}

/** The thread itself. */
export interface WatchingThread {
  /** Calls again and again, each time after the milliseconds that the last call returned; until it returns nothing. */
  readonly repeat: (delay: number, look: () => number | undefined) => void
  readonly newSession: () => Session
}

/** What was found out, as JSON. `isLast`: there is no sense in another question about the same stall. */
interface Found {
  readonly text: string
  readonly isLast: boolean
}

/** Asks for the stack. `onAnswered`: the main thread runs JavaScript. Returns what gives up. */
type Ask = (
  loop: WatchedLoop,
  thread: WatchingThread,
  onAnswered: () => void,
  onFound: (found: Found) => void,
) => () => void

interface Call {
  readonly functionName: string
  readonly url: string
  readonly location: { readonly scriptId: string; readonly lineNumber: number; readonly columnNumber?: number }
}

/**
 * Watches the event loop of the main thread, and asks for the stack when it has not turned for some time.
 *
 * It counts its own looks, and no time: where the process is stopped, or gets no processor, it does not look either. A stack
 * counts only if it is certain that it belongs to the stall: the loop did not turn before, the main thread paused at once, and
 * the loop did not turn for some looks after.
 *
 * This is the program of a thread, with `askForStack`. It is started from its text, so that it works in a bundle too, and it may
 * use its arguments only. It must not give names to functions: some compilers wrap them.
 */
export function watchStalls(loop: WatchedLoop, thread: WatchingThread, ask: Ask): void {
  const { word, state } = loop
  const words = new Int32Array(loop.memory, loop.wordsAt)
  let turn = -1
  let idle = 0
  let silent = 0
  let asked = 0
  let giveUp: (() => void) | undefined
  /** How many looks ago the main thread was asked, or the stack came. */
  let age = 0
  /** Written down when it is certain. */
  let found: Found | undefined
  thread.repeat(loop.calm, () => {
    const seen = Atomics.load(words, word.turn)
    const current = Atomics.load(words, word.state)
    idle = current === state.idle ? idle + 1 : 0
    if (idle >= loop.idleLooks) {
      if (Atomics.compareExchange(words, word.state, state.idle, state.ended) === state.idle) return undefined
    }
    if (seen !== turn || current === state.idle) {
      turn = seen
      silent = 0
      asked = 0
      found = undefined
      giveUp?.()
      giveUp = undefined
    } else silent += 1
    Atomics.store(words, word.watched, silent * loop.alert)
    if (silent === 0) return loop.calm
    age += 1
    if (giveUp !== undefined && age >= loop.patience) {
      giveUp()
      giveUp = undefined
      age = 0
      found = { text: loop.native, isLast: false }
    }
    if (found !== undefined && age >= loop.proof) {
      const bytes = Buffer.from(found.text)
      found = undefined
      if (bytes.length > loop.stackSize) return loop.alert
      Atomics.store(words, word.stackLength, 0)
      new Uint8Array(loop.memory, loop.stackAt).set(bytes)
      Atomics.store(words, word.stackTurn, turn)
      Atomics.store(words, word.stackLength, bytes.length)
    }
    const silence = loop.questions[asked]
    if (giveUp !== undefined || found !== undefined || silence === undefined || silent < silence) {
      return loop.alert
    }
    age = 0
    asked += 1
    if (current === state.debugged) {
      found = { text: loop.debugged, isLast: true }
      return loop.alert
    }
    giveUp = ask(
      loop,
      thread,
      () => {
        age -= loop.pausePatience
      },
      (answer) => {
        giveUp = undefined
        age = 0
        found = answer
        if (answer.isLast) asked = loop.questions.length
      },
    )
    return loop.alert
  })
}

/** Asks for the stack. The debugger is enabled for that only, and the main thread is paused until its stack is known. */
export function askForStack(
  loop: WatchedLoop,
  thread: WatchingThread,
  onAnswered: () => void,
  onFound: (found: Found) => void,
): () => void {
  const urls = new Map<string, string>()
  const session = thread.newSession()
  let isAnswered = false
  let isOpen = true
  session.connectToMainThread()
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => void urls.set(scriptId, url))
  session.on('Debugger.paused', ({ params }) => {
    if (!isOpen) return
    isOpen = false
    // Before anything that can fail: the main thread waits. If another debugger has paused it, only that one may resume it.
    if (isAnswered) session.post('Debugger.resume')
    session.disconnect()
    if (!isAnswered) {
      onFound({ text: loop.debugged, isLast: true })
      return
    }
    const stack = (params.callFrames as readonly Call[]).slice(0, loop.mostFrames).map((call) => {
      const url = urls.get(call.location.scriptId) || call.url || '(evaluated)'
      let file = url.startsWith(loop.root) ? url.slice(loop.root.length) : url.replace('file://', '')
      try {
        file = decodeURIComponent(file)
      } catch {}
      return {
        function: call.functionName.slice(-loop.mostCharacters) || '(anonymous)',
        file: file.slice(-loop.mostCharacters),
        line: call.location.lineNumber + 1,
        column: (call.location.columnNumber ?? 0) + 1,
      }
    })
    onFound({ text: JSON.stringify({ stack }), isLast: true })
  })
  session.post('Debugger.enable', (error) => {
    if (error !== null || !isOpen) return
    isAnswered = true
    onAnswered()
    session.post('Debugger.pause')
  })
  return () => {
    isOpen = false
    session.disconnect()
  }
}
