import type { Clock } from '../clock.js'
import type { LeaseRecord } from '../store/lease-record.js'
import type { StoreCall } from '../store/store-call.js'
import { TurnWatcher } from './turn-watcher.js'
import { WaitingRoom } from './waiting-room.js'

/** The waiting rooms of a store's names: opened when someone comes to wait, forgotten when nobody is left in it. */
export class WaitingRooms {
  readonly #clock: Clock
  /** When the lock of a name ends by itself; `-Infinity` where it is free. */
  readonly #lockedUntil: (name: string) => number
  readonly #rooms = new Map<string, WaitingRoom>()

  constructor(clock: Clock, lockedUntil: (name: string) => number) {
    this.#clock = clock
    this.#lockedUntil = lockedUntil
  }

  /** How many names are waited for. */
  get size(): number {
    return this.#rooms.size
  }

  /** Whether anyone waits for the name. */
  has(name: string): boolean {
    return this.#of(name) !== undefined
  }

  /** Whether one with this grant id, or with none, may have the name if it is free. */
  admits(name: string, grantId: string | undefined, now: number): boolean {
    return this.#of(name)?.admits(grantId, now) ?? true
  }

  /** Keeps a place in line until the given instant. */
  keep(name: string, grantId: string, now: number, aliveUntil: number): void {
    const room = this.#of(name) ?? this.#open(name)
    room.line.keep(grantId, now, aliveUntil)
  }

  /** Gives up a place in line, and tells whose turn it is then. */
  remove(name: string, grantId: string, now: number): void {
    const room = this.#of(name)
    if (room === undefined) return
    room.line.remove(grantId)
    this.#update(name, room, now)
  }

  /** To be called after a name was locked or freed: wakes whose turn it has become. */
  update(name: string, now: number): void {
    const room = this.#of(name)
    if (room !== undefined) this.#update(name, room, now)
  }

  /** Listens to a name until the call is aborted, the listener returns or the store is closed. */
  listen(name: string, call: StoreCall, grantId: string | undefined, look: () => LeaseRecord | undefined): TurnWatcher {
    const watcher = new TurnWatcher(look)
    const room = this.#of(name) ?? this.#open(name)
    room.enter(watcher, grantId)
    const unlisten = call.onAbort(() => watcher.end())
    watcher.onEnd(() => {
      unlisten()
      room.leave(watcher, grantId)
      this.#forgetEmpty(name, room)
    })
    return watcher
  }

  close(): void {
    const rooms = [...this.#rooms.values()]
    this.#rooms.clear()
    for (const room of rooms) room.close()
  }

  /** Mostly nobody waits at all, and then no name needs to be looked up. */
  #of(name: string): WaitingRoom | undefined {
    return this.#rooms.size === 0 ? undefined : this.#rooms.get(name)
  }

  #open(name: string): WaitingRoom {
    const room = new WaitingRoom(this.#clock, () => this.#lockedUntil(name))
    this.#rooms.set(name, room)
    return room
  }

  #update(name: string, room: WaitingRoom, now: number): void {
    room.update(now)
    this.#forgetEmpty(name, room)
  }

  #forgetEmpty(name: string, room: WaitingRoom): void {
    if (room.isEmpty && this.#rooms.get(name) === room) this.#rooms.delete(name)
  }
}
