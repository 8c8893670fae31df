import type { Action } from '../command-declaration.js'
import { bashCompletion } from '../completions/bash.js'
import { fishCompletion } from '../completions/fish.js'
import { zshCompletion } from '../completions/zsh.js'
import type { completion } from '../declarations.js'
import { exitCodes } from '../exit-codes.js'

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }

export const printCompletion: Action<typeof completion> = async ({ operands: [shell] }, { output }, all) => {
  // The declaration admits no other word.
  output.write(scripts[shell as keyof typeof scripts](all))
  return exitCodes.ok
}
