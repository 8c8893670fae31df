import type { Scene } from '../scenes/scene.js'
import { scenes } from '../scenes/scenes.js'
import { usePlayer } from './player-context.js'

/** The ten scenes, and free play. */
export function ScenesView() {
  const player = usePlayer()
  const current = player.showing.scene
  const play = (scene: Scene | undefined): void => {
    history.replaceState(null, '', scene === undefined ? location.pathname : `#${scene.id}`)
    void player.play(scene)
  }
  return (
    <nav class="scenes" aria-label="Scenes">
      <ol>
        {scenes.map((scene, place) => (
          <li key={scene.id}>
            <button
              type="button"
              class="scene"
              aria-current={scene === current ? 'true' : undefined}
              onClick={() => play(scene)}
            >
              <span class="scene-title">
                {place + 1}. {scene.title}
              </span>
              <span class="scene-sentence">{scene.sentence}</span>
            </button>
          </li>
        ))}
        <li>
          <button
            type="button"
            class="scene"
            aria-current={current === undefined ? 'true' : undefined}
            onClick={() => play(undefined)}
          >
            <span class="scene-title">Free play</span>
            <span class="scene-sentence">Begin afresh, and press what you like. The buttons work during a scene too.</span>
          </button>
        </li>
      </ol>
    </nav>
  )
}
