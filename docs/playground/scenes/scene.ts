import { World } from '../world/world.js'

/** The part of a scene that acts: what it does, and what it says meanwhile. */
export interface Stage {
  readonly world: World
  /** Says what happens now. */
  say(text: string): void
}

/** Something worth seeing, in one sentence and one script. */
export interface Scene {
  /** In the address of the page. */
  readonly id: string
  readonly title: string
  /** What to look at. */
  readonly sentence: string
  /** When the program of each node starts, in milliseconds; one after the other, before the scene begins, unless given. */
  readonly starts?: readonly number[]
  /** Ends when everything has happened. */
  play(stage: Stage): Promise<void>
}

/** The time before a scene, in which A gets the lease and the others queue, in milliseconds. */
const PRELUDE = 2_500

/** The seed of every scene: what is shown is what the tests have seen. */
const SEED = 7

/** One showing of a scene, or a world without a script. */
export class Showing implements Stage {
  readonly scene: Scene | undefined
  readonly world: World
  /** What was said last. */
  caption = ''
  /** Whether the script has ended, or there is none. */
  isOver = false
  /** Why the script failed; it never should. */
  failure: unknown

  private constructor(scene: Scene | undefined, world: World) {
    this.scene = scene
    this.world = world
  }

  /** Prepares the world, and begins the script. */
  static async begin(scene: Scene | undefined): Promise<Showing> {
    const world = new World({ seed: SEED, starts: scene?.starts })
    const showing = new Showing(scene, world)
    if (scene?.starts === undefined) await world.advance(PRELUDE)
    showing.#run().catch((error: unknown) => {
      showing.failure = error
    })
    return showing
  }

  /** Scenes take it apart from the stage: it must not need `this`. */
  readonly say = (text: string): void => {
    this.caption = text
  }

  /** Ends the script: a visitor has done something by hand. */
  takeOver(): void {
    if (this.isOver) return
    this.world.endScript()
    this.isOver = true
    this.caption = 'You have changed something by hand, so the scene ends here. Go on as you like.'
  }

  async #run(): Promise<void> {
    await this.scene?.play(this)
    this.isOver = true
  }
}
