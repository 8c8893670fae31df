import { useEffect, useRef } from 'preact/hooks'
import { scenes } from '../scenes/scenes.js'
import { useChoice } from './choice.js'
import { usePlayer } from './player-context.js'

/** Free play, and the ten scenes. */
export function ScenesView() {
  const current = usePlayer().showing.scene
  const play = useChoice()
  const list = useRef<HTMLOListElement>(null)
  // On a phone, the scenes stand side by side.
  useEffect(() => {
    const chosen = list.current?.querySelector<HTMLElement>('[aria-current]')?.parentElement
    if (chosen) list.current?.scrollTo({ left: chosen.offsetLeft - list.current.offsetLeft })
  }, [current])
  return (
    <nav class="scenes" aria-label="Scenes">
      <ol ref={list}>
        <li>
          <button
            type="button"
            class="scene"
            aria-current={current === undefined ? 'true' : undefined}
            onClick={() => play(undefined)}
          >
            <span class="scene-title">Free play</span>
            <span class="scene-sentence">
              Begin afresh, and press what you like. A button pressed in a scene ends its script.
            </span>
          </button>
        </li>
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
      </ol>
    </nav>
  )
}
