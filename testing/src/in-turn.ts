/**
 * The members of a list whose turn it is: all of them, unless the environment variable `MUTANTS_TURN` says otherwise. `1/2` is
 * the second half, every other one. So the commits together check what one of them has no time for.
 */
export function inTurn<T>(members: readonly T[], asked = process.env.MUTANTS_TURN ?? '0/1'): readonly T[] {
  const [, turn, turns] = (/^(\d+)\/([1-9]\d*)$/.exec(asked) ?? []).map(Number)
  if (turn === undefined || turns === undefined || turn >= turns) {
    throw new Error(`MUTANTS_TURN is '${asked}': it must be a turn and the number of turns, such as 0/2 or 1/2`)
  }
  return members.filter((_, place) => place % turns === turn)
}
