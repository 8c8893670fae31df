import { speeds } from './player.js'
import { usePlayer, useWorld } from './player-context.js'
import { seconds } from './texts.js'

const speedTexts: Readonly<Record<number, string>> = { 0.25: '¼×', 0.5: '½×', 1: '1×', 2: '2×', 4: '4×' }

/** What happens now, and how fast. */
export function TimeControls() {
  const player = usePlayer()
  const { now } = useWorld()
  const { scene, caption, isOver } = player.showing
  const freely = 'A holds the lease, B and C wait. Choose a scene, or kill, pause and cut as you like.'
  return (
    <section class="card time" aria-labelledby="scene-title">
      <h2 id="scene-title">{scene === undefined ? 'Free play' : scene.title}</h2>
      <p class="caption" role="status">
        {scene === undefined ? freely : caption}
        {scene !== undefined && isOver && <span class="none"> The scene is over; go on as you like.</span>}
      </p>
      <div class="time-buttons">
        <button type="button" class="primary" onClick={() => player.pause(!player.isPaused)}>
          {player.isPaused ? 'Play' : 'Stop time'}
        </button>
        <button type="button" class="button" disabled={!player.isPaused} onClick={() => void player.step()}>
          Step 0.1 s
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
        <span class="mono now">{seconds(now)} s</span>
      </div>
    </section>
  )
}
