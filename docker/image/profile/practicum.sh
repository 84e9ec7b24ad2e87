# Login shells, as JupyterLab starts them in a terminal, set PATH anew.
export PATH=/opt/kit/bin:$PATH
