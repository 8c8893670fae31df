import type { Scene } from '../scenes/scene.js'
import { Showing } from '../scenes/scene.js'

/** How many milliseconds pass in the world for one of the visitor. */
export const speeds = [0.25, 0.5, 1, 2, 4] as const

export type Speed = (typeof speeds)[number]

/** How far one step goes, in milliseconds. */
const STEP = 100

/** A longer frame, such as the first one after the page was hidden, counts as this, in milliseconds. */
const LONGEST_FRAME = 500

export interface PlayerOptions {
  /** Calls back before the next frame is drawn, with its time in milliseconds. */
  readonly nextFrame: (draw: (time: number) => void) => void
  readonly onChange: () => void
  /** Whether time stands still at first. */
  readonly isPaused: boolean
}

/** Lets the time of a world pass with the frames of the page. */
export class Player {
  isPaused: boolean
  speed: Speed = 1
  showing: Showing
  readonly #nextFrame: PlayerOptions['nextFrame']
  readonly #onChange: () => void
  #lastFrame: number | undefined
  #beginnings = 0

  private constructor(showing: Showing, { nextFrame, onChange, isPaused }: PlayerOptions) {
    this.showing = showing
    this.#nextFrame = nextFrame
    this.#onChange = onChange
    this.isPaused = isPaused
    this.#awaitFrame()
  }

  /** A player of a world in which everything works. */
  static async open(options: PlayerOptions): Promise<Player> {
    return new Player(await Showing.begin(undefined), options)
  }

  /** Begins again, with a scene or without one. */
  async play(scene: Scene | undefined): Promise<void> {
    this.#beginnings += 1
    const beginning = this.#beginnings
    const showing = await Showing.begin(scene)
    // Another one may have been asked for meanwhile.
    if (beginning !== this.#beginnings) return
    this.showing = showing
    this.isPaused = false
    this.#onChange()
  }

  pause(isPaused: boolean): void {
    this.isPaused = isPaused
    this.#onChange()
  }

  setSpeed(speed: Speed): void {
    this.speed = speed
    this.#onChange()
  }

  async step(): Promise<void> {
    await this.showing.world.advance(STEP)
    this.#onChange()
  }

  /** Does something to the world by hand, which ends the script of a scene. */
  act(change: () => void): void {
    this.showing.takeOver()
    change()
    this.#onChange()
  }

  #awaitFrame(): void {
    this.#nextFrame((time) => void this.#frame(time))
  }

  async #frame(time: number): Promise<void> {
    const passed = Math.min(LONGEST_FRAME, time - (this.#lastFrame ?? time))
    this.#lastFrame = time
    if (!this.isPaused) {
      await this.showing.world.advance(passed * this.speed)
      this.#onChange()
    }
    this.#awaitFrame()
  }
}
