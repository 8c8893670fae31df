import type { Scene } from '../scenes/scene.js'
import { usePlayer } from './player-context.js'

/** Begins a scene, or free play, and puts it into the address, so that it can be sent to others. */
export function useChoice(): (scene: Scene | undefined) => void {
  const player = usePlayer()
  return (scene) => {
    history.replaceState(null, '', scene === undefined ? location.pathname : `#${scene.id}`)
    void player.play(scene)
  }
}
