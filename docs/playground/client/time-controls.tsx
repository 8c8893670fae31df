import { scenes } from '../scenes/scenes.js'
import { useChoice } from './choice.js'
import { speeds } from './player.js'
import { usePlayer, useWorld } from './player-context.js'
import { seconds } from './texts.js'

const speedTexts: Readonly<Record<number, string>> = { 0.25: '¼×', 0.5: '½×', 1: '1×', 2: '2×', 4: '4×' }

/** What happens now, and how fast. */
export function TimeControls() {
  const player = usePlayer()
  const { now } = useWorld()
  const { scene, caption, isOver } = player.showing
  const next = scenes[(scene === undefined ? 0 : scenes.indexOf(scene) + 1) % scenes.length]
  const choose = useChoice()
  const freely = 'One node holds the lease, the others wait. Choose a scene, or kill, pause and cut as you like.'
  return (
    <section class="card time" aria-labelledby="scene-title">
      <div class="time-head">
        <h2 id="scene-title">{scene === undefined ? 'Free play' : scene.title}</h2>
        <span class="mono now">{seconds(now)} s</span>
      </div>
      <p class="caption" role="status">
        {scene === undefined ? freely : caption}
      </p>
      <div class="time-buttons">
        <button type="button" class="primary" onClick={() => player.pause(!player.isPaused)}>
          {player.isPaused ? 'Go on' : 'Stop time'}
        </button>
        <button type="button" class="button" disabled={!player.isPaused} onClick={() => void player.step()}>
          Step 0.1 s
        </button>
        <button type="button" class="button" onClick={() => choose(scene)}>
          Again
        </button>
        <fieldset class="segments">
          <legend class="unseen">Speed</legend>
          {speeds.map((speed) => (
            <button
              key={speed}
              type="button"
              class="chip"
              aria-pressed={speed === player.speed}
              onClick={() => player.setSpeed(speed)}
            >
              {speedTexts[speed]}
            </button>
          ))}
        </fieldset>
        <button type="button" class="button" data-next={isOver || undefined} onClick={() => choose(next)}>
          Next scene
        </button>
      </div>
    </section>
  )
}
