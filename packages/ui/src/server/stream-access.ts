import type { Clock } from '@leasehold/core'
import type { Gate } from '../access/gate.js'
import type { UiUser } from '../lease-ui-options.js'
import type { UiCall } from './ui-call.js'

/** After this time, the host is asked again whether the reader of an open page may still read it. In milliseconds. */
const CHECK_INTERVAL = 60_000

/** Ends an open page whose reader has signed out, or may do less or more than at its beginning. */
export class StreamAccess {
  readonly #gate: Gate
  readonly #clock: Clock
  #isOver = false
  #cancel = (): void => {}

  constructor(gate: Gate, clock: Clock) {
    this.#gate = gate
    this.#clock = clock
  }

  /** Calls `onRefused` once the host does not accept the request any more. With an access token, it is never asked. */
  begin(call: UiCall, user: UiUser, onRefused: () => void): void {
    if (this.#gate.isPageOpen || this.#isOver) return
    this.#cancel = this.#clock.schedule(CHECK_INTERVAL, () => void this.#check(call, user, onRefused))
  }

  end(): void {
    this.#isOver = true
    this.#cancel()
  }

  async #check(call: UiCall, user: UiUser, onRefused: () => void): Promise<void> {
    const isSame = await this.#gate.userOf(call).then(
      ({ access, name }) => access === user.access && name === user.name,
      () => false,
    )
    if (this.#isOver) return
    if (isSame) this.begin(call, user, onRefused)
    else onRefused()
  }
}
