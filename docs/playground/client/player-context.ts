import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { World } from '../world/world.js'
import type { Player } from './player.js'

export const PlayerContext = createContext<Player | undefined>(undefined)

export function usePlayer(): Player {
  const player = useContext(PlayerContext)
  if (player === undefined) throw new Error('there is no player around this part of the page')
  return player
}

export function useWorld(): World {
  return usePlayer().showing.world
}
