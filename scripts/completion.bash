# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# completion.bash: completes denet's commands and options in bash. It asks the program itself for
# them (--help), so that there is no second list to keep in step.

# _denet_options COMMAND…: the options that this prints with --help, one a line; "=" stands behind
# those that take a value.
_denet_options() {
	"$@" --help 2>/dev/null | grep -E '^ +-' | cut -c1-29 |
		grep -oE -- '(^|[ ,])-(-[a-z][a-z-]*=?|[a-zA-Z]\b)' | tr -d ' ,'
}

# _denet_is COMMAND: that command's options are completed.
_denet_is() {
	[[ ${COMP_WORDS[0]##*/} = "denet-$1" || ${COMP_WORDS[1]} = "$1" ]]
}

# _denet_values OPTION: the words that an option takes, where they are few and known.
_denet_values() {
	case $1 in
	--call-graph)
		if _denet_is offcputime; then
			echo 'fp auto tables'
		elif _denet_is top; then
			echo 'fp auto'
		else
			echo 'fp auto tables dwarf'
		fi
		;;
	--capture) echo 'auto switch-in switch-out' ;;
	--by) _denet_is report && echo 'group comm pid tid' || echo 'comm pid tid' ;;
	--sort) echo 'group comm pid tid state event wait sym callers' ;;
	--event) echo 'offcpu-time offcpu-idle queued-time wakeup-time on-cpu-time' ;;
	--state) _denet_is top && echo 'RUN RUNQ SLEEP DISK IDLE STOPPED TRACED PARKED ZOMBIE DEAD OTHER' ||
		echo 'R S D T t I P all' ;;
	--track) echo 'syscalls offcpu block' ;;
	--times) echo 'state call request' ;;
	-g | --group)
		! _denet_is top || echo "state username exe comm comm2 cmdline tid tgid pidns cgroup cgroup_id
			container cpu syscall wchan wait filename filenamesum fext aiofilename
			uringfilename connection conn_state lock sysc_arg1 sysc_arg2 sysc_arg3
			sysc_arg4 sysc_arg5 sysc_arg6 extra_info kstack_hash kstack kfunc
			ustack_hash ustack ufunc syscall_active sysc_seq_num iorq_seq_num
			iorq_in_flight waker waker_tid lock_owner sysc_time iorq_time"
		;;
	-u | --uid) _denet_is offcputime || compgen -u ;;
	-p | --pid | -t | --tid) printf '%s\n' /proc/[0-9]* | sed 's,.*/,,' ;;
	esac
}

# _denet_value OPTION WORD: completes an option's value; fails where no value is known.
_denet_value() {
	case $1 in
	-i | --input | -o | --output | -w | --write | --skip-idle | --idle | --symfs | --diff | \
		--pin | --flamegraph | --pprof | --speedscope)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$2")
		;;
	-*)
		mapfile -t COMPREPLY < <(compgen -W "$(_denet_values "$1")" -- "$2")
		[ ${#COMPREPLY[@]} != 0 ]
		;;
	*)
		return 1
		;;
	esac
}

_denet() {
	local program=("${COMP_WORDS[0]}") word=${COMP_WORDS[COMP_CWORD]} i
	local before=${COMP_WORDS[COMP_CWORD - 1]}

	COMPREPLY=()
	if [[ ${program[0]##*/} != denet-* ]]; then
		if [ "$COMP_CWORD" = 1 ]; then
			mapfile -t COMPREPLY < <(compgen -W "$("${program[0]}" --help 2>/dev/null |
				sed -n 's/^  \([a-z]*\)  .*/\1/p') --help --version" -- "$word")
			return
		fi
		program+=("${COMP_WORDS[1]}")
	fi
	# The command behind "--" is completed by its own completion, with bash-completion
	# installed.
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [ "${COMP_WORDS[i]}" = -- ]; then
			! declare -F _command_offset >/dev/null || _command_offset $((i + 1))
			return
		fi
	done
	# bash takes "--option=value" apart.
	if [ "$word" = = ]; then
		_denet_value "$before" '' || true
	elif [ "$before" = = ]; then
		_denet_value "${COMP_WORDS[COMP_CWORD - 2]}" "$word" || true
	elif [[ $word = -* ]] || ! _denet_value "$before" "$word"; then
		mapfile -t COMPREPLY < <(compgen -W "$(_denet_options "${program[@]}")" -- "$word")
		[[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
	fi
}

complete -F _denet denet denet-offcputime denet-record denet-report denet-stat denet-top denet-check perf-denet
