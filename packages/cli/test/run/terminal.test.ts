import { writeFileSync } from 'node:fs'
import { describeUnless } from '@leasehold/testing/describe-unless'
import { it } from 'vitest'
import { leaseFolder, program } from '../support/leasehold-program.js'
import { TerminalSession, whyNoTerminal } from '../support/terminal-session.js'

const CTRL_C = '\x03'
const CTRL_Z = '\x1a'
const LEASEHOLD = `${process.execPath} ${program}`
const LOOP = 'while :; do sleep 0.2; done'

/** A folder with this script, which the tests run as `./command.sh`. */
function folderWith(test: Parameters<typeof leaseFolder>[0], script: string): string {
  const folder = leaseFolder(test)
  writeFileSync(`${folder}/command.sh`, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return folder
}

describeUnless(
  whyNoTerminal,
  'leasehold run on a terminal',
  () => {
    it('gives the terminal to the command: it reads lines, and sees that it may use colours', async (test) => {
      const script = `test -t 0 && test -t 1 && test -t 2 && echo "a terminal"
        read -r line </dev/tty
        echo "got: $line"`
      const terminal = await TerminalSession.open(test, folderWith(test, script))
      terminal.type(`${LEASEHOLD} run x -- ./command.sh\n`)
      await terminal.shows(/\na terminal/)
      terminal.type('some words\n')
      await terminal.shows(/got: some words/)
      terminal.type('echo "code: $?"\n')
      await terminal.shows(/\ncode: 0/)
    })

    it('stops with Ctrl-Z, and goes on with fg', async (test) => {
      const folder = folderWith(test, `trap 'echo continued' CONT; echo started; ${LOOP}`)
      const terminal = await TerminalSession.open(test, folder)
      terminal.type(`${LEASEHOLD} run stops -- ./command.sh\n`)
      await terminal.shows(/\nstarted/)
      terminal.type(CTRL_Z)
      await terminal.shows(/Stopped[\s\S]*prompt> /)
      // Both leasehold and its command are stopped.
      terminal.type('ps -T -o stat=,args= | grep "command.s[h]"; echo "list" ended\n')
      await terminal.shows(/\nT[^\n]* run stops -- [\s\S]*\nT[^\n]* .\/command.sh\r\nlist ended/)
      terminal.type('fg\n')
      await terminal.shows(/\ncontinued/)
      terminal.type(CTRL_C)
      await terminal.shows(/prompt> /)
      terminal.type('echo "code: $?"\n')
      await terminal.shows(/\ncode: 130/)
    })

    it('goes on in the background with bg', async (test) => {
      const terminal = await TerminalSession.open(test, folderWith(test, 'echo started; sleep 2; echo the end; exit 4'))
      terminal.type(`${LEASEHOLD} run x -- ./command.sh\n`)
      await terminal.shows(/\nstarted/)
      terminal.type(CTRL_Z)
      await terminal.shows(/Stopped[\s\S]*prompt> /)
      terminal.type('bg\n')
      await terminal.shows(/the end/)
      terminal.type('wait %1; echo "code: $?"\n')
      await terminal.shows(/\ncode: 4/)
    })

    it('is ended by its watchdog if it is stopped for longer than the validity', async (test) => {
      const folder = folderWith(test, `trap '' TERM; echo started; ${LOOP}`)
      const terminal = await TerminalSession.open(test, folder)
      terminal.type(`${LEASEHOLD} run x --ttl 6s --kill-after 500ms -- ./command.sh\n`)
      await terminal.shows(/\nstarted/)
      terminal.type(CTRL_Z)
      await terminal.shows(/Stopped[\s\S]*prompt> /)
      // Another one gets the lease when nothing of the command is alive.
      terminal.type(`${LEASEHOLD} run x -- sh -c 'echo left: $(ps -T -o args= | grep -c "^/bin/sh ./comman[d]")'\n`)
      await terminal.shows(/left: 0/)
      terminal.type('fg\n')
      await terminal.shows(/the lease 'x' was lost/)
      terminal.type('echo "code: $?"\n')
      await terminal.shows(/\ncode: 79/)
    })

    it('lets Ctrl-C reach the command once each time, and ends with the command', async (test) => {
      const script = `n=0; trap 'n=$((n+1)); echo "got $n"; [ $n = 2 ] && exit 6' INT; echo started; ${LOOP}`
      const terminal = await TerminalSession.open(test, folderWith(test, script))
      terminal.type(`${LEASEHOLD} run x -- ./command.sh\n`)
      await terminal.shows(/\nstarted/)
      terminal.type(CTRL_C)
      await terminal.shows(/got 1/)
      // Had the first one come twice, the command would have ended by now.
      await terminal.quiet(1_000)
      terminal.type(CTRL_C)
      await terminal.shows(/got 2[\s\S]*prompt> /)
      terminal.type('echo "code: $?"\n')
      await terminal.shows(/\ncode: 6/)
    })

    it('leaves the other programs of a pipeline alone', async (test) => {
      const terminal = await TerminalSession.open(test, folderWith(test, 'sleep 77 & echo "the command"; exit 0'))
      terminal.type(`(echo input; sleep 1) | ${LEASEHOLD} run x -- ./command.sh | (cat; sleep 2; echo "the" reader)\n`)
      await terminal.shows(/\nthe command/)
      await terminal.shows(/\nthe reader/)
      terminal.type('ps -T -o args= | grep -c "^sleep 7[7]"\n')
      await terminal.shows(/\n0\r?\n/)
    })

    it('shows the place in the queue and the holder during the wait, and removes both again', async (test) => {
      const folder = folderWith(test, 'echo started; read -r line')
      const holding = await TerminalSession.open(test, folder)
      holding.type(`${LEASEHOLD} run x --owner first -- ./command.sh\n`)
      await holding.shows(/\nstarted/)
      const waiting = await TerminalSession.open(test, folder)
      waiting.type(`${LEASEHOLD} run x -- echo it runs\n`)
      await waiting.shows(/waiting for 'x' for \d+s, next in the queue; first holds it since \d{4}-\d\d-\d\dT/)
      holding.type('\n')
      await waiting.shows(/\[Kit runs[\s\S]*prompt> /)
    })
  },
  { concurrent: true },
)
