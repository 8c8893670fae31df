import { describe, expect, it } from 'vitest'
import { STACK_AT, STACK_SIZE, WORD, WORDS_AT, wordsOf } from '../src/last-words.js'
import { watchStalls } from '../src/watch-stalls.js'

const state = { idle: 0, debugged: 2, ended: 3 }
const WATCHED = 1

/** The program of the thread, whose looks the test makes. */
function watched() {
  const memory = new SharedArrayBuffer(STACK_AT + STACK_SIZE)
  const words = wordsOf(memory)
  words[WORD.state] = WATCHED
  const questions: { readonly onAnswered: () => void; readonly onFound: (text: string) => void }[] = []
  let givenUp = 0
  let look: () => number | undefined = () => undefined
  watchStalls(
    {
      ...{ memory, wordsAt: WORDS_AT, word: WORD, stackAt: STACK_AT, stackSize: STACK_SIZE, state },
      ...{ calm: 250, alert: 100, questions: [4, 20], patience: 3, pausePatience: 10, proof: 2, idleLooks: 5 },
      ...{ mostFrames: 10, mostCharacters: 100, root: '', native: 'native', debugged: 'debugged' },
    },
    {
      repeat: (_, given) => {
        look = given
      },
      newSession: () => {
        throw new Error('no session')
      },
    },
    (_loop, _thread, onAnswered, onFound) => {
      questions.push({ onAnswered, onFound: (text) => onFound({ text, isLast: true }) })
      return () => {
        givenUp += 1
      }
    },
  )
  const looks = (count: number): number | undefined => {
    let next: number | undefined
    for (let left = count; left > 0; left -= 1) next = look()
    return next
  }
  const turn = (): void => void Atomics.add(words, WORD.turn, 1)
  const written = (): string => Buffer.from(new Uint8Array(memory, STACK_AT, words[WORD.stackLength])).toString()
  // It sees the first turn.
  looks(1)
  return { words, questions, looks, turn, written, givenUp: () => givenUp }
}

describe('the thread that watches the event loop', () => {
  it('asks nothing while the loop turns, and looks seldom', () => {
    const { questions, looks, turn } = watched()
    for (let time = 0; time < 50; time += 1) {
      looks(3)
      turn()
      expect(looks(1)).toBe(250)
    }
    expect(questions).toEqual([])
  })

  it('asks once when the loop has not turned for some looks, and writes the stack when it still does not turn', () => {
    const { questions, looks, written, words } = watched()
    expect(looks(4)).toBe(100)
    expect(questions.length).toBe(1)
    questions[0]?.onFound('stack')
    looks(1)
    expect(written()).toBe('')
    looks(1)
    expect(written()).toBe('stack')
    expect(words[WORD.stackTurn]).toBe(words[WORD.turn])
    looks(100)
    expect(questions.length).toBe(1)
    expect(words[WORD.watched]).toBe(10_600)
  })

  it('drops a stack if the loop turns soon after: it may be that of other code', () => {
    const { questions, looks, turn, written } = watched()
    looks(4)
    questions[0]?.onFound('stack')
    looks(1)
    turn()
    looks(3)
    expect(written()).toBe('')
  })

  it('gives up when the loop turns before the answer', () => {
    const { looks, turn, givenUp } = watched()
    looks(5)
    turn()
    looks(1)
    expect(givenUp()).toBe(1)
  })

  it('says that no JavaScript ran where there is no answer, and asks once more later', () => {
    const { questions, looks, written, givenUp } = watched()
    looks(4 + 3)
    expect(givenUp()).toBe(1)
    looks(2)
    expect(written()).toBe('native')
    looks(20)
    expect(questions.length).toBe(2)
    questions[1]?.onFound('stack')
    looks(2)
    expect(written()).toBe('stack')
  })

  it('waits longer for the stack of a main thread that has answered: a deep one takes long', () => {
    const { questions, looks, givenUp } = watched()
    looks(5)
    questions[0]?.onAnswered()
    looks(9)
    expect(givenUp()).toBe(0)
    looks(5)
    expect(givenUp()).toBe(1)
  })

  it('asks nothing while the inspector is open, and says so', () => {
    const { words, questions, looks, written } = watched()
    words[WORD.state] = state.debugged
    looks(6)
    expect(questions).toEqual([])
    expect(written()).toBe('debugged')
  })

  it('asks nothing while no lease is held, and ends', () => {
    const { words, questions, looks } = watched()
    words[WORD.state] = state.idle
    expect(looks(4)).toBe(250)
    expect(looks(1)).toBeUndefined()
    expect(words[WORD.state]).toBe(state.ended)
    expect(questions).toEqual([])
  })
})
