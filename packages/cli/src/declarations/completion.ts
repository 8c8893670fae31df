import { declareCommand } from '../command-declaration.js'

export const completion = declareCommand({
  name: 'completion',
  summary: 'Print the completions for a shell',
  operands: [{ name: 'SHELL', description: 'bash, zsh or fish', words: ['bash', 'zsh', 'fish'] }],
  options: {},
  examples: [
    { line: 'source <(leasehold completion bash)', description: 'in ~/.bashrc' },
    { line: 'leasehold completion zsh > ~/.zfunc/_leasehold', description: 'a folder of fpath' },
    { line: 'leasehold completion fish > ~/.config/fish/completions/leasehold.fish', description: 'for fish' },
  ],
})
