import { availableParallelism } from 'node:os'

/** For how many turns of an idle event loop an answer is looked out for: some 200 µs. */
const TURNS = 128

/** After so many answers in a row that were not there by then, as from a server that is farther away, it rests. */
const MISSES = 3

/** For so many calls, of which the first after that tries anew. */
const REST = 64

/**
 * Keeps the event loop from going to sleep for the moment in which a near server answers: to fall asleep and to be woken
 * takes longer than the server does, and costs as much as the turns in between.
 */
export class BusyPoll {
  readonly #isAwaited: () => boolean
  readonly #nextTurn: (turn: () => void) => void
  readonly #isAlone: boolean
  #turnsLeft = 0
  #isTurning = false
  #misses = 0
  #rest = 0

  /** Asks, turn by turn, whether an answer is still awaited. With one processor, the server may need it meanwhile. */
  constructor(
    isAwaited: () => boolean,
    nextTurn: (turn: () => void) => void = setImmediate,
    processors = availableParallelism(),
  ) {
    this.#isAwaited = isAwaited
    this.#nextTurn = nextTurn
    this.#isAlone = processors === 1
  }

  /** A call has been sent. */
  start(): void {
    if (this.#isAlone) return
    if (this.#rest > 0) {
      this.#rest -= 1
      return
    }
    this.#turnsLeft = TURNS
    if (this.#isTurning) return
    this.#isTurning = true
    this.#nextTurn(this.#turn)
  }

  /** A call has ended. */
  end(): void {
    if (this.#isTurning) this.#misses = 0
  }

  readonly #turn = (): void => {
    if (!this.#isAwaited()) {
      this.#isTurning = false
      return
    }
    this.#turnsLeft -= 1
    if (this.#turnsLeft > 0) {
      this.#nextTurn(this.#turn)
      return
    }
    this.#isTurning = false
    this.#misses += 1
    if (this.#misses >= MISSES) this.#rest = REST
  }
}
