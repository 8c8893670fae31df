import { render } from 'preact'
import { scenes } from '../scenes/scenes.js'
import { App } from './app.js'
import { followSite } from './embedded.js'
import { Player } from './player.js'
import { PlayerContext } from './player-context.js'

/** A visitor who wants no motion sees the page change this often, in milliseconds. */
const CALM = 500

async function start(): Promise<void> {
  const root = document.getElementById('page')
  if (root === null) throw new Error('The page has no element for its content.')
  followSite()
  const calm = matchMedia('(prefers-reduced-motion: reduce)')
  const draw = (): void =>
    render(
      <PlayerContext.Provider value={player}>
        <App />
      </PlayerContext.Provider>,
      root,
    )
  let lastFrame = 0
  const nextFrame = (frame: (time: number) => void): void => {
    requestAnimationFrame((time) => {
      if (!calm.matches || time - lastFrame >= CALM) {
        lastFrame = time
        frame(time)
      } else nextFrame(frame)
    })
  }
  const player = await Player.open({ nextFrame, onChange: draw, isPaused: calm.matches })
  const playAddressed = (): void => {
    const scene = scenes.find(({ id }) => `#${id}` === location.hash)
    if (scene !== undefined) void player.play(scene)
  }
  addEventListener('hashchange', playAddressed)
  draw()
  playAddressed()
}

void start()
